import { describe, expect, it } from 'vitest';

import { patientApiOf, codeOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type Item = {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  readonly confirmed: boolean;
  readonly createdAt: string;
  readonly cause: { readonly turnId: string | null; readonly eventId: string; readonly revision: number };
};

/** Short enough to wait for, and far longer than two requests take. */
const DEADLINE_MS = 10_000;

const textsOf = (items: readonly Item[]): readonly string[] => items.map(({ text }) => text);
const said = (...memoryStore: readonly (string | object)[]): object => ({
  generatedOutput: JSON.stringify({
    dialogue: 'Hm.',
    memoryStore: memoryStore.map((one) => (typeof one === 'string' ? { text: one } : one)),
  }),
});

/** How memories are stored, confirmed, listed and cleared, as bodies and studios see it over HTTP: the same on every profile. */
export const memoryScenarios = (profile: string, open: OpenServer): void => {
  describe(`memories on ${profile}`, () => {
    const running = projectingServer(open, { ANIMA_TURN_DEADLINE_MS: String(DEADLINE_MS) });
    let minds = 0;
    const freshMind = (): string => `mira ${String(minds++)} é`;
    const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
    const list = async (npcId: string, query = ''): Promise<readonly Item[]> => {
      const reply = await running.api.get(`${pathOf(npcId)}/memory${query}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.body as readonly Item[];
    };
    const confirm = async (npcId: string, body: object): Promise<Item> => {
      const reply = await running.api.post(`${pathOf(npcId)}/memory`, body);
      expect(reply.status, reply.text).toBe(200);
      return reply.body as Item;
    };
    const verdict = async (npcId: string, ...memories: readonly (string | object)[]): Promise<string> => {
      const reply = await running.api.post(`${pathOf(npcId)}/verdict`, said(...memories));
      expect(reply.status, reply.text).toBe(200);
      return (reply.body as { turnId: string }).turnId;
    };
    const clear = (npcId: string): Promise<Reply> => running.api('DELETE', `${pathOf(npcId)}/memory/clear`);
    const types = async (npcId: string): Promise<readonly string[]> =>
      ((await running.api.get(`${pathOf(npcId)}/history?limit=500`)).body as { events: { type: string }[] }).events.map(
        ({ type }) => type,
      );

    it('are listed immediately with those of verdicts and clients, oldest first, each with its cause [3.1a, 3.1b, 3.1c, 3.2a, 3.5a, 3.5c]', async () => {
      const npcId = freshMind();
      const turnId = await verdict(npcId, { text: 'He owes me.', type: 'experience', importance: 0.9 }, 'It rains.');
      const stored = await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/memory`, {
        text: 'The gate is old.',
        type: 'knowledge',
        metadata: { source: 'book', pages: [1, null] },
      });
      expect(stored.status).toBe(201);
      expect(stored.body).toEqual({
        id: expect.stringMatching(/^m/) as string,
        text: 'The gate is old.',
        type: 'knowledge',
        timestamp: expect.stringMatching(/Z$/) as string,
        metadata: { source: 'book', pages: [1, null] },
      });
      const items = await list(npcId);
      expect(textsOf(items)).toEqual(['He owes me.', 'It rains.', 'The gate is old.']);
      const [first] = items;
      expect(first).toEqual({
        id: first?.id,
        memoryId: first?.id,
        text: 'He owes me.',
        content: 'He owes me.',
        type: 'experience',
        importance: 0.9,
        similarity: 1,
        embedding: [],
        timestamp: Date.parse(first?.createdAt ?? ''),
        createdAt: first?.createdAt,
        confirmed: false,
        cause: { turnId, eventId: first?.cause.eventId, revision: 1 },
      });
      expect(items[2]?.cause.turnId).toBeNull();
      expect(items[2]).toMatchObject({ importance: 0.8, confirmed: false });
      const history = (await running.api.get(`${pathOf(npcId)}/history`)).body as { events: { id: string }[] };
      expect(items.map(({ cause }) => cause.eventId)).toEqual(history.events.slice(1).map(({ id }) => id));
    });

    it('of a turn are marked when a body confirms them, by the turn or by the text, and are not stored twice [3.2b, 3.2c, 3.2d]', async () => {
      const npcId = freshMind();
      const turnId = await verdict(npcId, 'Rain.', 'Wind.');
      const wind = await confirm(npcId, { observation: 'Wind.' });
      expect(wind).toMatchObject({ text: 'Wind.', confirmed: true, similarity: 1, cause: { turnId, revision: 2 } });
      const other = await confirm(npcId, { observation: 'In other words.', turnId });
      expect(other).toMatchObject({ text: 'Rain.', confirmed: true });
      expect(await confirm(npcId, { text: 'Wind.', turnId })).toEqual(wind);
      expect(await confirm(npcId, { observation: 'Rain.', text: 'ignored' })).toEqual(other);
      expect((await list(npcId)).map(({ text, confirmed }) => [text, confirmed])).toEqual([
        ['Rain.', true],
        ['Wind.', true],
      ]);
      const events = ['VerdictReached', 'MemoryStored', 'MemoryStored', 'MemoryConfirmed', 'MemoryConfirmed'];
      expect(await types(npcId)).toEqual(events);
      // A text that the turn never stored is new, whatever turn is named.
      const more = await confirm(npcId, { text: 'Hail.', turnId });
      expect(more).toMatchObject({ text: 'Hail.', confirmed: true, cause: { turnId: null } });
      expect((await list(npcId)).map(({ text }) => text)).toContain('Hail.');
    });

    it('of a turn of the protocol are confirmed with its Finalize [3.2a, 3.2c]', async () => {
      const npcId = freshMind();
      const steps = [
        null,
        { type: 'IdentifyActorResult', actor: { npcId, persona: null, data: {} } },
        { type: 'QueryVectorResult', memories: [] },
        { type: 'ExecuteInferenceResult', generatedOutput: 'Three coins.' },
      ];
      let tape: { readonly observation: string; readonly turnId?: string } = {
        observation: 'A stranger asks for a room.',
      };
      for (const lastResult of steps) {
        const reply = await running.api.post(`${pathOf(npcId)}/process`, { tape, lastResult });
        ({ tape } = reply.body as { tape: typeof tape });
      }
      const item = await confirm(npcId, { observation: 'A stranger asks for a room.', turnId: tape.turnId });
      expect(item).toMatchObject({ confirmed: true, cause: { turnId: tape.turnId } });
      expect(await list(npcId)).toEqual([item]);
    });

    it('are stored as confirmed if they are new, and again for the same text once a turn would be over [2.3d, 3.2b, 3.2c, 3.2f]', async () => {
      const npcId = freshMind();
      const item = await confirm(npcId, { text: 'Sun.', turnId: 'of no turn', type: 'weather', importance: 0.3 });
      expect(item).toMatchObject({ type: 'weather', importance: 0.3, confirmed: true, cause: { turnId: null } });
      expect(await confirm(npcId, { text: 'Sun.' })).toEqual(item);
      expect(await confirm(npcId, { text: 'Moon.' })).toMatchObject({ type: 'observation', importance: 0.8 });
      const over = Date.parse(item.createdAt) + DEADLINE_MS;
      while (Date.now() <= over + 50) await new Promise((resolve) => setTimeout(resolve, 100));
      const again = await confirm(npcId, { text: 'Sun.' });
      expect(again.id).not.toBe(item.id);
      expect(textsOf(await list(npcId))).toEqual(['Sun.', 'Moon.', 'Sun.']);
    });

    it('are stored once when they are sent twice with one key, and confirmed once by many concurrent clients [3.2g]', async () => {
      const npcId = freshMind();
      const key = { 'Idempotency-Key': `once-${npcId.length}-${String(minds)}` };
      const path = `/v1/agents/${encodeURIComponent(npcId)}/memory`;
      const [one, two] = [
        await running.api.post(path, { text: 'Once.' }, key),
        await running.api.post(path, { text: 'Once.' }, key),
      ];
      expect([two.status, two.text]).toEqual([201, one.text]);
      expect(two.headers.get('idempotency-replayed')).toBe('true');
      const confirmed = await Promise.all(Array.from({ length: 5 }, () => confirm(npcId, { text: 'All at once.' })));
      expect(new Set(confirmed.map(({ id }) => id)).size).toBe(1);
      expect(textsOf(await list(npcId))).toEqual(['Once.', 'All at once.']);
    });

    it('are cleared for lists and confirmations, and stay visible as of earlier moments [3.1e, 3.4a, 3.4b, 3.4c, 3.4d]', async () => {
      const npcId = freshMind();
      const turnId = await verdict(npcId, 'Rain.', 'Wind.');
      const stored = await list(npcId);
      // Its millisecond must be over before anything else happens; two servers' clocks may differ a little.
      const then = stored[1]?.createdAt ?? '';
      while (Date.now() <= Date.parse(then) + 2) await new Promise((resolve) => setTimeout(resolve, 1));
      await confirm(npcId, { text: 'Rain.' });
      const cleared = await clear(npcId);
      expect(cleared.status).toBe(200);
      expect(cleared.body).toEqual({
        clearStatus: 'cleared',
        clearCount: 2,
        clearTimestamp: expect.stringMatching(/Z$/) as string,
      });
      expect(cleared.headers.get('anima-revision')).toBe('4');
      expect(await list(npcId)).toEqual([]);
      expect((await clear(npcId)).body).toMatchObject({ clearStatus: 'cleared', clearCount: 0 });
      const { body: history } = await running.api.get(`${pathOf(npcId)}/history?type=MemoriesCleared`);
      expect(history.events).toMatchObject([
        { type: 'MemoriesCleared', actor: expect.any(String) as string, at: cleared.body.clearTimestamp as string },
      ]);

      for (const asOf of ['2', then]) expect(await list(npcId, `?asOf=${asOf}`)).toEqual(stored);
      expect((await list(npcId, '?asOf=3')).map(({ confirmed }) => confirmed)).toEqual([true, false]);
      expect(textsOf(await list(npcId, '?asOf=1'))).toEqual(['Rain.']);
      expect(await list(npcId, '?asOf=0')).toEqual([]);
      expect(await list(npcId, '?asOf=999')).toEqual([]);
      const before = new Date(Date.parse(stored[0]?.createdAt ?? '') - 1).toISOString();
      expect(await list(npcId, `?asOf=${before}`)).toEqual([]);
      const asOf = await running.api.get(`${pathOf(npcId)}/memory?asOf=2`);
      expect(asOf.headers.get('anima-revision')).toBe('2');

      const again = await confirm(npcId, { text: 'Rain.', turnId });
      expect(again.id).not.toBe(stored[0]?.id);
      expect(await list(npcId)).toEqual([again]);
    });

    it('are filtered by type and importance before they are counted, and paged [3.1d]', async () => {
      const npcId = freshMind();
      const kinds = ['observation', 'emotion', 'knowledge'];
      const memories = Array.from({ length: 9 }, (_, n) => ({
        text: `Memory ${String(n)}`,
        type: kinds[n % 3],
        importance: n / 10,
      }));
      await verdict(npcId, ...memories);
      const numbers = async (query: string): Promise<string> =>
        textsOf(await list(npcId, query))
          .map((text) => text.slice(-1))
          .join('');
      expect(await numbers('?type=emotion')).toBe('147');
      expect(await numbers('?type=emotion,knowledge')).toBe('124578');
      expect(await numbers('?type=other')).toBe('');
      expect(await numbers('?type=')).toBe('');
      expect(await numbers('?type=emotion,,knowledge')).toBe('124578');
      expect(await numbers('?minImportance=0.5')).toBe('5678');
      expect(await numbers('?minImportance=0.3&type=observation&asOf=8')).toBe('36');
      let url = `${pathOf(npcId)}/memory?limit=2&minImportance=0.2&type=observation,knowledge`;
      const pages: string[] = [];
      while (url !== '') {
        const reply = await running.api.get(url);
        pages.push(textsOf(reply.body as Item[]).join());
        url = /<(.*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1] ?? '';
      }
      expect(pages).toEqual(['Memory 2,Memory 3', 'Memory 5,Memory 6', 'Memory 8']);
    });

    it('of an archived mind are hidden until it is revived, except as of earlier moments [2.1f, 3.1g]', async () => {
      const npcId = freshMind();
      await confirm(npcId, { text: 'Rain.' });
      await running.api('DELETE', pathOf(npcId));
      expect(await list(npcId)).toEqual([]);
      expect(textsOf(await list(npcId, '?asOf=1'))).toEqual(['Rain.']);
      await confirm(npcId, { text: 'Wind.' });
      expect(textsOf(await list(npcId))).toEqual(['Rain.', 'Wind.']);
    });

    it('of an unknown mind are empty and create no mind; the first memory creates it [1.6f, 1.6g]', async () => {
      const npcId = freshMind();
      const unknown = await running.api.get(`${pathOf(npcId)}/memory`);
      expect([unknown.status, unknown.body, unknown.headers.get('anima-revision')]).toEqual([200, [], null]);
      expect(await list(npcId, '?asOf=5')).toEqual([]);
      expect((await clear(npcId)).body).toMatchObject({ clearStatus: 'cleared', clearCount: 0 });
      expect((await running.api.get(pathOf(npcId))).status).toBe(404);
      const made = await running.api.post(`${pathOf(npcId)}/memory`, { text: 'First.' });
      expect([made.status, made.headers.get('anima-revision')]).toEqual([200, '1']);
      expect((await running.api.get(pathOf(npcId))).status).toBe(200);
    });

    it('of different studios are separate', async () => {
      const npcId = freshMind();
      await confirm(npcId, { text: 'Ours.' });
      const made = await running.api.post('/tenants', { tenantId: 'neighbour' });
      const neighbour = patientApiOf(running.server.url, (made.body as { key: string }).key);
      expect((await neighbour.get(`${pathOf(npcId)}/memory`)).body).toEqual([]);
      expect((await neighbour('DELETE', `${pathOf(npcId)}/memory/clear`)).body).toMatchObject({ clearCount: 0 });
      await neighbour.post(`${pathOf(npcId)}/memory`, { text: 'Ours.' });
      expect((await neighbour.get(`${pathOf(npcId)}/memory`)).body).toHaveLength(1);
      expect(await list(npcId)).toHaveLength(1);
    });

    it('are refused if they are invalid, and for keys without the right [3.1d, 3.2b, 3.5a, 3.5b, 3.6g]', async () => {
      const path = `${pathOf(freshMind())}/memory`;
      const long = 'é'.repeat(4_097);
      const refused: readonly [string, object, string][] = [
        [path, {}, '/observation'],
        [path, { observation: null, text: null }, '/observation'],
        [path, { text: '' }, '/text'],
        [path, { text: long }, '/text'],
        [path, { text: 'x', type: '' }, '/type'],
        [path, { text: 'x', type: 'x'.repeat(65) }, '/type'],
        [path, { text: 'x', importance: 1.1 }, '/importance'],
        ['/v1/agents/mira/memory', {}, '/text'],
        ['/v1/agents/mira/memory', { text: long }, '/text'],
        ['/v1/agents/mira/memory', { text: 'x', type: 'weather' }, '/type'],
        ['/v1/agents/mira/memory', { text: 'x', metadata: [] }, '/metadata'],
      ];
      for (const [where, body, pointer] of refused) {
        const reply = await running.api.post(where, body);
        expect([reply.status, codeOf(reply)], JSON.stringify(body).slice(0, 80)).toEqual([400, 'SCHEMA_INVALID']);
        expect(reply.body.error.details.issues).toMatchObject([{ pointer }]);
      }
      const notes = (bytes: number) => ({ text: 'x', metadata: { n: 'x'.repeat(bytes - '{"n":""}'.length) } });
      expect((await running.api.post('/v1/agents/mira/memory', notes(16_384))).status).toBe(201);
      const over = await running.api.post('/v1/agents/mira/memory', notes(16_385));
      expect([over.status, codeOf(over), over.body.error.details.issues[0].pointer]).toEqual([
        400,
        'SCHEMA_INVALID',
        '/metadata',
      ]);
      // In compatibility form each of these is eighteen characters.
      const grown = { text: 'x', metadata: { n: 'ﷺ'.repeat(1_000) } };
      expect(codeOf(await running.api.post('/v1/agents/mira/memory', grown))).toBe('SCHEMA_INVALID');
      const metadata = { notes: 'x'.repeat(600_000) };
      const far = await running.api.post('/v1/agents/mira/memory', { text: 'x', metadata });
      expect([far.status, codeOf(far)]).toEqual([413, 'EVENTS_TOO_LARGE']);
      for (const type of ['observation', 'experience', 'knowledge', 'emotion'])
        expect((await running.api.post('/v1/agents/mira/memory', { text: 'x', type })).body).toMatchObject({ type });
      expect((await running.api.post(path, { text: 'é'.repeat(4_096), type: 'x'.repeat(64) })).status).toBe(200);
      expect((await running.api.post('/v1/agents/mira/memory', { text: 'x', type: null, metadata: null })).status).toBe(
        201,
      );
      const types = `?type=${'a,'.repeat(64)}a`;
      expect((await running.api.get(`${path}?type=${'a,'.repeat(63)}a`)).status).toBe(200);
      for (const query of ['?minImportance=2', '?asOf=yesterday', '?limit=0', '?cursor=!', types]) {
        expect(codeOf(await running.api.get(`${path}${query}`)), query).toBe('SCHEMA_INVALID');
      }
      const { body } = await running.api.post('/keys', { name: 'no memory', scopes: ['npc', 'audit'] });
      const poor = patientApiOf(running.server.url, (body as { key: string }).key);
      expect(codeOf(await poor.get(path))).toBe('FORBIDDEN');
      expect(codeOf(await poor.post(path, { text: 'x' }))).toBe('FORBIDDEN');
      expect(codeOf(await poor('DELETE', `${path}/clear`))).toBe('FORBIDDEN');
      expect(codeOf(await poor.post('/v1/agents/mira/memory', { text: 'x' }))).toBe('FORBIDDEN');
    });

    it('are read at the revision that a reader requests [1.8c]', async () => {
      const npcId = freshMind();
      await confirm(npcId, { text: 'Rain.' });
      const path = `${pathOf(npcId)}/memory`;
      expect((await running.api.get(path, { 'Anima-Min-Revision': '1' })).body).toHaveLength(1);
      expect(codeOf(await running.api.get(path, { 'Anima-Min-Revision': '9' }))).toBe('READ_MODEL_BEHIND');
    });
  });
};
