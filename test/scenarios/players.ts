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
      const all = { player: ann, header: 'p%2Dbob', context: { player: 'p-cat' } };
      await say(npcId, 'One.', all);
      await say(npcId, 'Two.', { ...all, player: 'Ann' });
      const last = await say(npcId, 'Three.', { ...all, player: { id: '' }, header: '%' });
      await say(npcId, 'Four.', { player: null, header: '', context: { player: [] } });
      expect((await eventsOf(npcId, 'TurnOpened')).map(({ player }) => player)).toEqual([
        { ...ann, from: 'body' },
        { id: 'p-bob', from: 'header' },
        { id: 'p-cat', from: 'context' },
        undefined,
      ]);
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

    it('belong to the request that an Idempotency-Key repeats [12.1f]', async () => {
      const npcId = await newMind();
      const first = await say(npcId, 'Hi.', { header: ann.id }, 'once');
      expect((await say(npcId, 'Hi.', { header: ann.id }, 'once')).text).toBe(first.text);
      expect(codeOf(await say(npcId, 'Hi.', { header: bob.id }, 'once'))).toBe('IDEMPOTENCY_KEY_REUSED');
      expect(codeOf(await say(npcId, 'Hi.', {}, 'once'))).toBe('IDEMPOTENCY_KEY_REUSED');
    });
  });
};
