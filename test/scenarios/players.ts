import { describe, expect, it } from 'vitest';

import { codeOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type Named = { readonly player?: unknown; readonly header?: string; readonly context?: unknown };
type HistoryEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

const ann = { id: 'p-ann', name: 'Ann' };
const bob = { id: 'p-bob', name: 'Bob' };

/** Several players and one mind: the same on every profile. */
export const playerScenarios = (profile: string, open: OpenServer): void => {
  describe(`players on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;
    const newMind = async (more: object = {}): Promise<string> => {
      const npcId = `host-${String((minds += 1))}`;
      const made = await running.api.post('/npcs', { npcId, persona: 'Mira, an innkeeper.', ...more });
      expect(made.status, made.text).toBe(200);
      return npcId;
    };
    const headersOf = ({ header }: Named): Record<string, string> =>
      header === undefined ? {} : { 'x-player-id': header };
    const say = (npcId: string, input: string, { player, context, ...named }: Named = {}, key?: string) =>
      running.api.post(
        `/v1/agents/${npcId}/process`,
        { input, ...(context === undefined ? {} : { context }), ...(player === undefined ? {} : { player }) },
        { ...headersOf(named), ...(key === undefined ? {} : { 'idempotency-key': key }) },
      );
    const step = (npcId: string, body: object, named: Named = {}) =>
      running.api.post(`/npcs/${npcId}/process`, body, headersOf(named));
    const eventsOf = async (npcId: string, type: string): Promise<readonly HistoryEvent['data'][]> =>
      ((await running.api.get(`/npcs/${npcId}/history?limit=500`)).body.events as readonly HistoryEvent[])
        .filter((event) => event.type === type)
        .map(({ data }) => data);
    const turnIdOf = (reply: Reply): string => {
      expect(reply.status, reply.text).toBe(200);
      return (reply.body.turnId ?? reply.body.tape?.turnId) as string;
    };

    it('are recorded with the turns of agents, by whatever names them first [12.1a, 12.1b, 12.1d]', async () => {
      const npcId = await newMind();
      const all = { player: ann, header: '%70-bob', context: { player: 'p-cat' } };
      await say(npcId, 'One.', all);
      await say(npcId, 'Two.', { ...all, player: null });
      const last = await say(npcId, 'Three.', { context: all.context });
      await say(npcId, 'Four.', { player: null, header: '', context: { player: [] } });
      expect((await eventsOf(npcId, 'TurnOpened')).map(({ player }) => player)).toEqual([
        { ...ann, from: 'body' },
        { id: 'p-bob', from: 'header' },
        { id: 'p-cat', from: 'context' },
        undefined,
      ]);
      await say(npcId, 'Five.', { ...all, player: { id: '' }, header: '%' });
      expect((await eventsOf(npcId, 'TurnOpened')).at(-1)?.['player']).toEqual({ id: '', from: 'body' });
      const player = { id: 'p-cat', from: 'context' };
      const turn = await running.api.get(`/npcs/${npcId}/turns/${turnIdOf(last)}`);
      expect(turn.body).toMatchObject({ player });
      const why = await running.api.get(`/npcs/${npcId}/verdicts/${turnIdOf(last)}/why`);
      expect(why.body).toMatchObject({ player });
    });

    it('are recorded with every act that opens a turn of a body [12.1a, 12.1d]', async () => {
      const npcId = await newMind();
      const observation = 'Good evening.';
      expect(turnIdOf(await step(npcId, { tape: { observation }, player: ann }))).toBeDefined();
      const named = { observation, player: ann };
      for (const [route, body] of [
        ['directive', named],
        ['context', named],
        ['verdict', { ...named, generatedOutput: 'Welcome.' }],
      ] as const)
        turnIdOf(await running.api.post(`/npcs/${npcId}/${route}`, body));
      const player = { ...ann, from: 'body' };
      for (const type of ['TurnOpened', 'DirectiveGiven', 'ContextBuilt'])
        expect(await eventsOf(npcId, type)).toMatchObject([{ player }]);
      expect(await eventsOf(npcId, 'VerdictReached')).toMatchObject([{ asked: { player } }]);
    });

    it('have turns of their own, even in the same words [12.1e]', async () => {
      const npcId = await newMind();
      const replies = await Promise.all([
        say(npcId, 'Hi.', { player: ann }),
        say(npcId, 'Hi.', { player: bob }),
        say(npcId, 'Hi.', { header: ann.id }),
        say(npcId, 'Hi.'),
      ]);
      const [first, second, third, fourth] = replies.map(turnIdOf);
      expect(third).toBe(first);
      expect(new Set([first, second, fourth]).size).toBe(3);
    });

    it('have steps of their own in the protocol, without the id of the turn [12.1e, 12.1g]', async () => {
      const npcId = await newMind();
      const tape = { observation: 'Hi.' };
      const opened = [await step(npcId, { tape, player: ann }), await step(npcId, { tape, player: bob })];
      const [ofAnn, ofBob] = opened.map(turnIdOf);
      expect(opened.map(({ body }) => body.tape.player as unknown)).toEqual([ann, bob]);
      const lastResult = { type: 'IdentifyActorResult', actor: { npcId, persona: null, data: {} } };
      expect(turnIdOf(await step(npcId, { tape, lastResult }, { header: ann.id }))).toBe(ofAnn);
      expect(turnIdOf(await step(npcId, { tape: { ...tape, player: bob }, lastResult }))).toBe(ofBob);
      // A turn that is resumed from its tape goes on with its player.
      const lost = { ...tape, turnId: 't0_lost_turn', player: bob };
      expect(turnIdOf(await step(npcId, { tape: lost, lastResult }))).not.toBe(ofBob);
      expect((await eventsOf(npcId, 'TurnOpened')).at(-1)).toMatchObject({ player: { ...bob, from: 'body' } });
    });

    const secret = 'The hidden key lies under the third barrel in the cellar.';
    const question = 'Where does the hidden key lie?';
    const recalledBy = async (npcId: string, named: Named = {}): Promise<readonly string[]> => {
      const reply = await say(npcId, question, named);
      expect(reply.status, reply.text).toBe(200);
      return reply.body.memoriesRecalled as readonly string[];
    };

    it('do not hear what another one told [12.2a, 12.2b, 12.2c]', async () => {
      const npcId = await newMind();
      expect((await say(npcId, secret, { player: ann })).status).toBe(200);
      expect(await recalledBy(npcId, { header: bob.id })).toEqual([]);
      expect(await recalledBy(npcId, { header: ann.id })).toEqual([secret]);
      expect(await recalledBy(npcId, { header: '100%' })).toEqual([]);
      // Whom only the context names, and who is not named, may hear everything.
      expect(await recalledBy(npcId, { context: { player: bob } })).toEqual([secret]);
      expect(await recalledBy(npcId)).toEqual([secret]);
      const [stored] = await eventsOf(npcId, 'MemoryStored');
      expect(stored).toMatchObject({ text: secret, player: { ...ann, from: 'body' } });
      const listed = await running.api.get(`/npcs/${npcId}/memory`);
      expect((listed.body as readonly object[])[0]).toMatchObject({ text: secret, player: { ...ann, from: 'body' } });
    });

    it('hear what a context only tags, what nobody told, and what is knowledge [12.2b, 12.2d]', async () => {
      const npcId = await newMind();
      const tagged = 'The hidden key was forged by Old Berta.';
      expect((await say(npcId, tagged, { context: { player: ann } })).status).toBe(200);
      const known = 'The hidden key opens the crypt.';
      for (const [text, more] of [
        [known, { type: 'knowledge', player: ann }],
        [secret, { player: ann }],
        ['The hidden key is made of iron.', {}],
      ] as const) {
        const stored = await running.api.post(`/v1/agents/${npcId}/memory`, { text, ...more });
        expect(stored.status, stored.text).toBe(201);
      }
      const recall = async (route: string, body: object, named: Named = {}): Promise<readonly string[]> => {
        const reply = await running.api.post(
          `${route}/memory/recall`,
          { query: 'hidden key', ...body },
          headersOf(named),
        );
        expect(reply.status, reply.text).toBe(200);
        return (reply.body as readonly { text: string }[]).map(({ text }) => text).sort();
      };
      const shared = [tagged, known, 'The hidden key is made of iron.'].sort();
      const all = [...shared, secret].sort();
      for (const route of [`/npcs/${npcId}`, `/v1/agents/${npcId}`]) {
        const least = route.startsWith('/v1') ? { minScore: 0 } : {};
        expect(await recall(route, { ...least, player: bob })).toEqual(shared);
        expect(await recall(route, least, { header: bob.id })).toEqual(shared);
        expect(await recall(route, least, { header: ann.id })).toEqual(all);
        expect(await recall(route, least)).toEqual(all);
      }
    });

    it('hear everything of a mind that shares it [12.2e]', async () => {
      const npcId = await newMind({ players: 'shared' });
      expect((await running.api.get(`/npcs/${npcId}`)).body).toMatchObject({ players: 'shared' });
      expect((await say(npcId, secret, { player: ann })).status).toBe(200);
      expect(await recalledBy(npcId, { player: bob })).toEqual([secret]);
      const patched = await running.api('PATCH', `/npcs/${npcId}`, { players: null });
      expect([patched.status, patched.body.players]).toEqual([200, undefined]);
      expect(await recalledBy(npcId, { player: { id: 'p-cat' } })).toEqual([]);
      expect(codeOf(await running.api.post('/npcs', { npcId, players: 'all' }))).toBe('SCHEMA_INVALID');
    });

    it('are kept apart in a copy of the mind from its soul [12.2f]', async () => {
      const npcId = await newMind();
      expect((await say(npcId, secret, { player: ann })).status).toBe(200);
      const exported = await running.api.post(`/v1/agents/${npcId}/soul/export`, {});
      expect(exported.status, exported.text).toBe(200);
      const { soul } = exported.body as { soul: { memories: readonly object[] } };
      expect(soul.memories).toMatchObject([{ text: secret, player: { ...ann, from: 'body' } }]);
      const without = await running.api.post(`/v1/agents/${npcId}/soul/export`, { without: ['players'] });
      expect((without.body as { soul: { memories: readonly object[] } }).soul.memories).toEqual([]);
    });

    it('have souls, also if somebody spoke whose name cannot be read [12.2i, 12.2f]', async () => {
      const npcId = await newMind();
      expect((await say(npcId, secret, { player: { ID: 'ben' } })).status).toBe(200);
      for (const [more, memories] of [
        [{}, [{ text: secret, player: { id: '', from: 'body' } }]],
        [{ without: ['players'] }, []],
      ] as const) {
        const exported = await running.api.post(`/v1/agents/${npcId}/soul/export`, more);
        expect(exported.status, exported.text).toBe(200);
        expect((exported.body as { soul: object }).soul).toMatchObject({ memories });
      }
    });

    it('keep what they told in the same words, in both families of routes [3.2e, 12.2b]', async () => {
      const npcId = await newMind();
      for (const player of [ann, bob]) {
        const stored = await running.api.post(`/npcs/${npcId}/memory`, { observation: secret, player });
        expect(stored.status, stored.text).toBeLessThan(300);
        expect(stored.body).toMatchObject({ player: { ...player, from: 'body' } });
      }
      for (const player of [ann, bob]) expect(await recalledBy(npcId, { player })).toEqual([secret]);
    });

    it('share the persona, the state and the facts of the NPC [12.2h]', async () => {
      const npcId = await newMind({ data: { note: 'The gem is in the sofa.' } });
      for (const player of [ann, bob]) {
        const shown = await running.api.post(`/v1/agents/${npcId}/prompt`, { input: question, player });
        expect(shown.status, shown.text).toBe(200);
        expect(shown.body.prompt).toContain('The gem is in the sofa.');
        expect(shown.body.prompt).toContain('Mira, an innkeeper.');
      }
    });

    it('are read from a member that is called almost as it should be [12.1h]', async () => {
      const npcId = await newMind();
      expect((await say(npcId, secret, { player: ann })).status).toBe(200);
      for (const named of [{ playerId: bob.id }, { Player: bob }, { plyer: bob }]) {
        const reply = await running.api.post(`/v1/agents/${npcId}/process`, { input: question, ...named });
        expect(reply.body.memoriesRecalled, JSON.stringify(named)).toEqual([]);
        const recalled = await running.api.post(`/npcs/${npcId}/memory/recall`, { query: secret, ...named });
        const texts = (recalled.body as readonly { text: string }[]).map(({ text }) => text);
        expect(texts, JSON.stringify(named)).not.toContain(secret);
      }
    });

    const conversationOf = async (npcId: string): Promise<readonly { heard: string }[]> =>
      (await eventsOf(npcId, 'TurnOpened')).at(-1)?.['conversation'] as readonly { heard: string }[];

    it('have conversations of their own, even if only the context names them or nobody can [13.4a, 13.4c]', async () => {
      const npcId = await newMind();
      const ofCat = { context: { player: 'p-cat' } };
      await say(npcId, secret, ofCat);
      for (const named of [{ context: { player: 'p-dan' } }, { header: 'p-cat' }, { header: '%' }, {}]) {
        await say(npcId, 'What did I just say?', named);
        expect(await conversationOf(npcId)).toEqual([]);
      }
      await say(npcId, 'And now?', { header: '%' });
      expect(await conversationOf(npcId)).toEqual([]);
      await say(npcId, 'And now?', ofCat);
      expect(await conversationOf(npcId)).toMatchObject([{ heard: secret }]);
    });

    it('no longer hear in a conversation what was retracted [10.12r, 13.4a]', async () => {
      const npcId = await newMind();
      await say(npcId, secret, { player: ann });
      await say(npcId, 'It is raining.', { player: ann });
      const listed = (await running.api.get(`/npcs/${npcId}/memory`)).body as readonly {
        memoryId: string;
        text: string;
      }[];
      const { memoryId = '' } = listed.find(({ text }) => text === secret) ?? {};
      const retracted = await running.api.post(`/npcs/${npcId}/memory/retract`, {
        memoryIds: [memoryId],
        reason: 'A lie.',
      });
      expect(retracted.status, retracted.text).toBe(200);
      await say(npcId, 'What did I just say?', { player: ann });
      // The second turn was opened with the first one, and its answer may repeat it.
      expect(await conversationOf(npcId)).toEqual([]);
    });

    it('are kept apart by bodies that bring memories of their own [12.2g]', async () => {
      const npcId = await newMind();
      const memories = [{ text: secret, type: 'experience', importance: 0.8, similarity: 0.9 }];
      const built = await running.api.post(`/npcs/${npcId}/context`, { observation: 'Well?', memories, player: bob });
      expect(built.status, built.text).toBe(200);
      expect(built.body.prompt).toContain(secret);
    });

    it('are listed with their standing, newest first and in pages [12.3a, 12.3b, 12.3d]', async () => {
      const relationships = { 'p-ann': { trust: 12 }, 'p-bob': 'a thief' };
      const npcId = await newMind({ data: { relationships } });
      await say(npcId, 'Hi.', { player: ann });
      await say(npcId, 'Hi.', { player: 'toString' });
      await say(npcId, 'Hi.', { header: '%' });
      await say(npcId, 'Hi.', { player: bob });
      await say(npcId, 'Well?', { header: ann.id });
      const all = await running.api.get(`/npcs/${npcId}/players`);
      expect(all.status, all.text).toBe(200);
      expect(all.body).toMatchObject([
        { ...ann, from: 'header', turns: 2, standing: { trust: 12 } },
        { ...bob, from: 'body', turns: 1, standing: 'a thief' },
        { id: 'toString', turns: 1, standing: null },
      ]);
      const first = await running.api.get(`/npcs/${npcId}/players?limit=2`);
      expect(first.body).toEqual((all.body as unknown[]).slice(0, 2));
      const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
      expect((await running.api.get(next)).body).toEqual((all.body as unknown[]).slice(2));
      expect(codeOf(await running.api.get('/npcs/nobody/players'))).toBe('NPC_NOT_FOUND');
    });

    it('belong to the request that an Idempotency-Key repeats [12.1f]', async () => {
      const npcId = await newMind();
      const first = await say(npcId, 'Hi.', { header: ann.id }, 'once');
      expect((await say(npcId, 'Hi.', { header: ann.id }, 'once')).text).toBe(first.text);
      expect(codeOf(await say(npcId, 'Hi.', { header: bob.id }, 'once'))).toBe('IDEMPOTENCY_KEY_REUSED');
      expect(codeOf(await say(npcId, 'Hi.', {}, 'once'))).toBe('IDEMPOTENCY_KEY_REUSED');
    });
  });
};
