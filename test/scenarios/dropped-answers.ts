import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, patientApiOf, type Reply } from '../support/api.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

/** Ten of them exceed a megabyte. */
const LARGE = { text: 'x'.repeat(200_000) };
const DROPPED = { timeout: 60_000, interval: 500 };

/** Repeats of requests whose responses are no longer stored: the same on every profile. */
export const droppedAnswerScenarios = (profile: string, open: OpenServer): void => {
  describe(`repeats of evicted responses on ${profile}`, () => {
    let server: ServerUnderTest;
    let api: Api;
    let large = 0;
    beforeAll(async () => {
      server = await open({ ANIMA_KEPT_ANSWERS_MB: '1' });
      api = patientApiOf(server.url, server.ownerKey);
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const once = (key: string) => ({ 'idempotency-key': key });
    const pushOut = async (): Promise<void> => {
      for (let n = 0; n < 10; n += 1) {
        large += 1;
        const body = { npcId: `large ${large}`, data: LARGE };
        expect((await api.post('/npcs', body, once(`large ${large}`.replace(' ', '-')))).status).toBe(200);
      }
    };
    /** The response to a repeat once the first response is evicted. */
    const repeated = async (path: string, body: object, key: string): Promise<Reply> => {
      await pushOut();
      const replies: Reply[] = [];
      // Some stores evict responses a moment later.
      await expect
        .poll(async () => {
          replies.push(await api.post(path, body, once(key)));
          return replies.at(-1)?.headers.get('idempotency-replayed');
        }, DROPPED)
        .toBeNull();
      return replies.at(-1) as Reply;
    };

    it('do not undo later changes by others [1.7n]', async () => {
      const first = { npcId: 'mira', persona: 'An innkeeper.' };
      await api.post('/npcs', first);
      await api.post('/npcs', first, once('same'));
      await api.post('/npcs', { npcId: 'mira', persona: 'A spy.' });
      expect((await repeated('/npcs', first, 'same')).status).toBe(200);
      expect((await api.get('/npcs/mira')).body).toMatchObject({ persona: 'A spy.' });
    });

    it('check an action that was first checked without a mind against the current mind, and record nothing', async () => {
      const body = { action: { type: 'MOVE', target: 'inn' } };
      await api.post('/bridge/validate/late', body, once('check'));
      await api.post('/npcs', { npcId: 'late' });
      const again = await repeated('/bridge/validate/late', body, 'check');
      expect([again.status, again.body]).toMatchObject([200, { valid: true, code: null }]);
      expect(again.headers.get('anima-revision')).toBe('0');
      expect(((await api.get('/npcs/late/history')).body as { events: unknown[] }).events).toHaveLength(1);
    });

    it('make no other checkpoint [1.7n]', async () => {
      await api.post('/npcs', { npcId: 'logged' });
      await api.post('/audit/checkpoints', {});
      const first = (await api.post('/audit/checkpoints', {}, once('checkpoint'))).body as { size: number };
      await api.post('/npcs', { npcId: 'logged later' });
      expect((await repeated('/audit/checkpoints', {}, 'checkpoint')).body).toMatchObject({ size: first.size });
    });
  });
};
