import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findBreak } from '../../src/app/hash-chain.js';
import { npcStream } from '../../src/domain/shared/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { type Api, apiOf, type Reply } from '../support/api.js';

/** Servers of one installation, seen from outside. */
export type ServersUnderTest = AsyncDisposable & { readonly urls: readonly string[]; readonly ownerKey: string };

const results = [
  { type: 'IdentifyActorResult', actor: { npcId: 'crowd', persona: 'Many.', data: { hp: 40 } } },
  { type: 'QueryVectorResult', memories: [] },
  { type: 'ExecuteInferenceResult', generatedOutput: '{"dialogue": "One by one.", "action": "SPEAK"}' },
];
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const problemOf = ({ status, text }: Reply): string => (status < 300 ? '' : `${String(status)} ${text}`);

type Told = { revision: number; id: string; type: string; hash: string; prevHash: string; data: object } & Record<
  string,
  unknown
>;

/** A history as it was told, as its events stand. */
const eventsOf = (npcId: string, told: readonly Told[]): readonly RecordedEvent[] =>
  told.map(({ revision, id, type, data, ...meta }) => {
    const event = { stream: npcStream('local', npcId), revision, id, type, data, position: revision + 1 };
    return { ...event, meta: { ...meta, tenant: 'local' } } as unknown as RecordedEvent;
  });

/** Every route that appends, by many callers at the same moment, on one mind: nobody is refused, nothing is done twice, and the chain is whole. */
export const manyAtOnceScenarios = (profile: string, open: () => Promise<ServersUnderTest>): void => {
  describe(`many at once on one mind, on ${profile}`, () => {
    let servers: ServersUnderTest;
    let apis: readonly Api[];
    const apiFor = (n: number): Api => apis[n % apis.length] as Api;
    const post = async (n: number, path: string, body: object, key?: string): Promise<Reply> =>
      apiFor(n).post(path, body, key === undefined ? {} : { 'idempotency-key': key });

    beforeAll(async () => {
      servers = await open();
      apis = servers.urls.map((url) => apiOf(url, servers.ownerKey));
    }, 180_000);
    afterAll(() => servers[Symbol.asyncDispose]());

    const historyOf = async (npcId: string): Promise<readonly Told[]> =>
      ((await apiFor(0).get(`/npcs/${npcId}/history?limit=500`)).body as { events: Told[] }).events;

    it('serves every route that appends', async () => {
      const npc = '/npcs/crowd';
      const body = async (n: number): Promise<string> => {
        const first = await post(n, `${npc}/process`, { tape: { observation: `Body ${n} comes in.` } });
        if (problemOf(first) !== '') return problemOf(first);
        let { tape } = first.body as { tape: object };
        for (const lastResult of results) {
          const next = await post(n, `${npc}/process`, { tape, lastResult });
          if (problemOf(next) !== '') return problemOf(next);
          ({ tape } = next.body as { tape: object });
        }
        return '';
      };
      const one = async (n: number, path: string, sent: object): Promise<string> =>
        problemOf(await post(n, path, sent));
      // The mind exists, so that a check of the bridge is recorded.
      expect(await one(0, '/npcs', { npcId: 'crowd' })).toBe('');
      const problems = await Promise.all(
        range(6).flatMap((n) => [
          body(n),
          one(n, `${npc}/directive`, { observation: `Directive ${n}` }),
          one(n, `${npc}/context`, { observation: `Context ${n}`, memories: [] }),
          one(n, `${npc}/verdict`, { generatedOutput: `Verdict ${n}` }),
          one(n, '/npcs', { npcId: 'crowd', persona: `Persona ${n}` }),
          one(n, '/bridge/validate/crowd', { action: { type: 'IDLE' } }),
          one(n, '/rules', { rulesetId: 'shared', rulesetRules: [{ ruleName: `Version ${n}` }] }),
          one(n, '/keys', { name: `Key ${n}` }),
        ]),
      );
      expect(problems.filter((problem) => problem !== '')).toEqual([]);
      const told = await historyOf('crowd');
      expect(findBreak(eventsOf('crowd', told))).toBeNull();
      const counts = Object.fromEntries(
        ['TurnOpened', 'VerdictReached', 'DirectiveGiven', 'ContextBuilt', 'BridgeChecked', 'NpcUpdated'].map(
          (type) => [type, told.filter((event) => event.type === type).length],
        ),
      );
      expect(counts).toEqual({
        TurnOpened: 6,
        VerdictReached: 12,
        DirectiveGiven: 6,
        ContextBuilt: 6,
        BridgeChecked: 6,
        NpcUpdated: 6,
      });
      expect(((await apiFor(1).get('/rules/shared')).body as { version: number }).version).toBe(6);
    }, 60_000);

    it('does what two send at the same moment under one key once', async () => {
      const until = async (ask: () => Promise<Reply>): Promise<Reply> => {
        for (let attempt = 0; ; attempt += 1) {
          const reply = await ask();
          if (reply.headers.get('retry-after') === null || attempt === 20) return reply;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      };
      const acts: readonly (readonly [string, object])[] = [
        ['/npcs/twice/process', { tape: { observation: 'Once.' } }],
        ['/npcs/twice/directive', { observation: 'Once.' }],
        ['/npcs/twice/verdict', { generatedOutput: 'Once.' }],
        ['/npcs', { npcId: 'twice', persona: 'Once.' }],
        ['/rules', { rulesetRules: [] }],
      ];
      for (const [path, sent] of acts) {
        const key = `twice ${path}`.replaceAll(' ', '-');
        const replies = await Promise.all(range(4).map((n) => until(() => post(n, path, sent, key))));
        expect(replies.map(problemOf)).toEqual(['', '', '', '']);
        expect(new Set(replies.map(({ text }) => text)).size, path).toBe(1);
      }
      const types = (await historyOf('twice')).map(({ type }) => type);
      expect(types.filter((type) => type === 'TurnOpened')).toHaveLength(1);
      expect(types.filter((type) => type === 'DirectiveGiven')).toHaveLength(1);
      expect(types.filter((type) => type === 'VerdictReached')).toHaveLength(1);
    }, 60_000);
  });
};
