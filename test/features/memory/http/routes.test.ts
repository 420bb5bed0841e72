import { describe, expect, it } from 'vitest';

import { initialMind } from '../../../../src/features/npcs/domain/state.js';
import { memoryRoutes } from '../../../../src/features/memory/http/routes.js';

/** The response for a mind at revision 9 whose read model is at another revision. */
const answerAt = async (progress: number, query: object = {}) => {
  const state = { ...initialMind, revision: 9 };
  const services = {
    ports: {
      events: { read: () => Promise.resolve({ events: [], lastRevision: 9 }) },
      readModels: {
        reached: () => Promise.resolve(progress >= 9),
        progress: () => Promise.resolve(progress),
        list: () => Promise.resolve({ rows: [], more: false }),
      },
    },
    writers: { current: () => Promise.resolve({ state, revision: 9 }) },
  };
  const [list] = memoryRoutes(services as never);
  const principal = { tenant: 'studio' };
  const koa = { req: { url: '/' } };
  return list?.handler({ params: { npcId: 'mira' }, query, principal, header: () => undefined, koa } as never);
};

describe('the revision of a list of memories', () => {
  it('is the one that the list shows, even if the wait for a later one timed out', async () => {
    expect(await answerAt(9)).toMatchObject({ revision: 9 });
    expect(await answerAt(4)).toMatchObject({ revision: 4 });
  });

  it('is at most the one as of which the mind is read', async () => {
    expect(await answerAt(9, { asOf: '3' })).toMatchObject({ revision: 3 });
    expect(await answerAt(4, { asOf: '6' })).toMatchObject({ revision: 4 });
  });
});
