import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { utterances, type UtterancesRow } from '../../../../projections/utterances.js';
import { searchRoute } from '../../../../src/features/search/http/routes.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import type { Ports } from '../../../../src/ports/ports.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { MemoryReadModels } from '../../../support/memory/read-models.js';

let app: TestApp;
/** The streams that a search waited for. */
let awaited: string[];

/** One text of each of these NPCs, by a rule of the same name. */
const NAMES = ['a,b', 'a', 'b', 'c\\', 'back\\slash'];

beforeEach(async () => {
  const readModels = new MemoryReadModels(new ManualClock());
  const build = await readModels.open(utterances);
  const put = NAMES.map((name, place) => {
    const row: UtterancesRow = {
      ...{ tenant: 'local', npcId: name, turnId: `t${String(place)}`, revision: 0 },
      player: place === 0 ? ['Anna', 'p1'] : place === 1 ? ['Bo'] : [],
      utterances: [
        {
          ...{ kind: 'said', place, revision: 0, at: '2026-01-01T00:00:00.000Z', by: [name], to: [], text: 'x' },
          ...{ drRuleId: name, action: name, actor: name },
        },
      ],
    };
    const passages = (utterances.passagesOf?.(row) ?? []).map((said) => ({ ...said, words: 'x' }));
    return { key: `k${String(place)}`, row, index: utterances.indexOf(row), passages };
  });
  await readModels.commit(build, { put, remove: [], progress: [], parked: [], position: 1 });
  awaited = [];
  const ports = {
    events: new MemoryEventStore(),
    textSearch: readModels,
    readModels: {
      reachedPosition: () => Promise.resolve(),
      reached: (_: unknown, stream: string) => Promise.resolve(awaited.push(stream) > 0),
    },
  } as unknown as Ports;
  app = await startApp([searchRoute({ ports })]);
});
afterEach(() => app.stop());

type Hit = { readonly npcId: string; readonly player?: string };
const found = async (members: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) => {
  const { status, body } = await app.get(`/search?${new URLSearchParams(members).toString()}`, {
    authorization: 'Bearer good',
    ...headers,
  });
  expect(status).toBe(200);
  return (body.hits as readonly Hit[]).map(({ npcId }) => npcId).toSorted();
};

describe('the filters of a search', () => {
  it.each(['npcId', 'by', 'drRuleId', 'action', 'actor'])(
    'find names with commas and backslashes by %s [10.10n]',
    async (filter) => {
      expect(await found({ [filter]: 'a\\,b' })).toEqual(['a,b']);
      expect(await found({ [filter]: 'a,b' })).toEqual(['a', 'b']);
      expect(await found({ [filter]: 'c\\\\,a\\,b' })).toEqual(['a,b', 'c\\']);
      expect(await found({ [filter]: 'back\\slash' })).toEqual(['back\\slash']);
    },
  );

  it('wait for a revision of the only NPC, also if its id has a comma [10.10j]', async () => {
    await found({ npcId: 'a\\,b' }, { 'anima-min-revision': '0' });
    await found({ npcId: 'a,b' }, { 'anima-min-revision': '0' });
    expect(awaited).toEqual([npcStream('local', 'a,b')]);
  });

  it('have at most 100 names together [10.10g]', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `n${String(at)}`).join(',');
    expect(await found({ by: names(50), to: names(50) })).toEqual([]);
    const { status, body } = await app.get(`/search?by=${names(50)}&to=${names(51)}`);
    expect([status, body.error.details.issues]).toEqual([
      400,
      [{ pointer: '/to', message: 'brings all filters together to more than 100 names' }],
    ]);
  });
});

describe('a hit', () => {
  it('names the player of its turn, by the id if it is known [10.10b]', async () => {
    const { body } = await app.get('/search?npcId=a%5C%2Cb,a,b');
    const players = (body.hits as readonly Hit[]).map(({ npcId, player }) => [npcId, player]);
    expect(players).toEqual([
      ['b', undefined],
      ['a', 'Bo'],
      ['a,b', 'p1'],
    ]);
  });
});
