import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findBreak } from '../support/find-break.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { type Api, apiOf, type Reply } from '../support/api.js';

/** The servers of one installation, seen from outside. */
export type ServersUnderTest = AsyncDisposable & { readonly urls: readonly string[]; readonly ownerKey: string };

const results = [
  { type: 'IdentifyActorResult', actor: { npcId: 'crowd', persona: 'Many.', data: { hp: 40 } } },
  { type: 'QueryVectorResult', memories: [] },
  { type: 'ExecuteInferenceResult', generatedOutput: '{"dialogue": "One by one.", "action": "SPEAK"}' },
];
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
/** How long a refused request is retried, in milliseconds; far above what a loaded machine takes. */
const REPEATED_MS = 30_000;
const PAUSE_MS = 100;
const problemOf = ({ status, text }: Reply): string => (status < 300 ? '' : `${String(status)} ${text}`);

type Told = { revision: number; id: string; type: string; hash: string; prevHash: string; data: object } & Record<
  string,
  unknown
>;

/** Retries refused requests as clients should. */
const until = async (ask: () => Promise<Reply>): Promise<Reply> => {
  for (const began = performance.now(); ;) {
    const reply = await ask();
    if (reply.headers.get('retry-after') === null || performance.now() - began > REPEATED_MS) return reply;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};

/** A history as received, with its events parsed. */
const eventsOf = (npcId: string, told: readonly Told[]): readonly RecordedEvent[] =>
  told.map(({ revision, id, type, data, ...meta }) => {
    const event = { stream: npcStream('local', npcId), revision, id, type, data, position: revision + 1 };
    return { ...event, meta: { ...meta, tenant: 'local' } } as unknown as RecordedEvent;
  });

/** Every route that appends, by many concurrent callers, on one mind: none is refused, nothing is done twice, and the chain is intact. */
export const manyAtOnceScenarios = (profile: string, open: () => Promise<ServersUnderTest>): void => {
  describe(`many concurrent requests on one mind, on ${profile}`, () => {
    let servers: ServersUnderTest;
    let apis: readonly Api[];
    const apiFor = (n: number): Api => apis[n % apis.length] as Api;
    const post = async (n: number, path: string, body: object, key?: string): Promise<Reply> =>
      apiFor(n).post(path, body, key === undefined ? {} : { 'idempotency-key': key });

    beforeAll(async () => {
      servers = await open();
      apis = servers.urls.map((url) => apiOf(url, servers.ownerKey));
    }, 300_000);
    afterAll(() => servers[Symbol.asyncDispose]());

    const historyOf = async (npcId: string): Promise<readonly Told[]> =>
      ((await apiFor(0).get(`/npcs/${npcId}/history?limit=500`)).body as { events: Told[] }).events;

    it('are served on every route that appends', async () => {
      const npc = '/npcs/crowd';
      // Half of the callers send keys. An overloaded machine may refuse any caller for a moment, but none because others write;
      // a retry without a key may have been executed before.
      let unsure = 0;
      let commands = 0;
      const send = (n: number, path: string, sent: object): Promise<Reply> => {
        const key = n % 2 === 0 ? undefined : `crowd-${(commands += 1)}`;
        return until(async () => {
          const reply = await post(n, path, sent, key);
          expect([409, 429]).not.toContain(key === undefined ? reply.status : 0);
          expect(reply.text).not.toContain('"CONFLICT"');
          if (key === undefined && reply.status === 503) unsure += 1;
          return reply;
        });
      };
      const body = async (n: number): Promise<string> => {
        const first = await send(n, `${npc}/process`, { tape: { observation: `Body ${n} comes in.` } });
        if (problemOf(first) !== '') return problemOf(first);
        let { tape } = first.body as { tape: object };
        for (const lastResult of results) {
          const next = await send(n, `${npc}/process`, { tape, lastResult });
          if (problemOf(next) !== '') return problemOf(next);
          ({ tape } = next.body as { tape: object });
        }
        return '';
      };
      const one = async (n: number, path: string, sent: object): Promise<string> =>
        problemOf(await send(n, path, sent));
      // The mind exists, so that a check of the bridge is recorded.
      expect(await one(0, '/npcs', { npcId: 'crowd' })).toBe('');
      const problems = await Promise.all(
        range(6).flatMap((n) => [
          body(n),
          one(n, `${npc}/directive`, { observation: `Directive ${n}` }),
          one(n, `${npc}/context`, { observation: `Context ${n}`, memories: [] }),
          one(n, `${npc}/verdict`, { generatedOutput: `Verdict ${n}` }),
          one(n, '/npcs', { npcId: 'crowd', persona: `Persona ${n}` }),
          one(n, `${npc}/memory`, { text: `Memory ${n}` }),
          one(n, '/v1/agents/crowd/memory', { text: `Agent's memory ${n}` }),
          one(n, '/bridge/validate/crowd', { action: { type: 'IDLE' } }),
          one(n, '/rules', { rulesetId: 'shared', rulesetRules: [{ ruleName: `Version ${n}` }] }),
          one(n, '/keys', { name: `Key ${n}` }),
        ]),
      );
      expect(problems.filter((problem) => problem !== '')).toEqual([]);
      const told = await historyOf('crowd');
      expect(findBreak(eventsOf('crowd', told))).toBeNull();
      const least = {
        TurnOpened: 6,
        VerdictReached: 12,
        DirectiveGiven: 6,
        ContextBuilt: 6,
        BridgeChecked: 6,
        NpcUpdated: 6,
        MemoryStored: 18,
        MemoryConfirmed: 6,
      };
      for (const [type, count] of Object.entries(least)) {
        const found = told.filter((event) => event.type === type).length;
        expect(found, type).toBeGreaterThanOrEqual(count);
        expect(found, type).toBeLessThanOrEqual(count + unsure);
      }
      const { version } = (await apiFor(1).get('/rules/shared')).body as { version: number };
      expect(version).toBeGreaterThanOrEqual(6);
      expect(version).toBeLessThanOrEqual(6 + unsure);
    });

    it('are executed once when two clients send the same key at the same moment', async () => {
      const acts: readonly (readonly [string, object])[] = [
        ['/npcs/sent-at-once/process', { tape: { observation: 'Once.' } }],
        ['/npcs/sent-at-once/directive', { observation: 'Once.' }],
        ['/npcs/sent-at-once/verdict', { generatedOutput: 'Once.' }],
        ['/npcs', { npcId: 'sent-at-once', persona: 'Once.' }],
        ['/npcs/sent-at-once/memory', { text: 'Once.' }],
        ['/v1/agents/sent-at-once/memory', { text: 'Once.' }],
        ['/rules', { rulesetRules: [] }],
      ];
      for (const [path, sent] of acts) {
        const key = `twice ${path}`.replaceAll(' ', '-');
        const replies = await Promise.all(range(4).map((n) => until(() => post(n, path, sent, key))));
        expect(replies.map(problemOf)).toEqual(['', '', '', '']);
        expect(new Set(replies.map(({ text }) => text)).size, path).toBe(1);
      }
      const types = (await historyOf('sent-at-once')).map(({ type }) => type);
      expect(types.filter((type) => type === 'TurnOpened')).toHaveLength(1);
      expect(types.filter((type) => type === 'DirectiveGiven')).toHaveLength(1);
      expect(types.filter((type) => type === 'VerdictReached')).toHaveLength(1);
      expect(types.filter((type) => type === 'MemoryStored')).toHaveLength(2);
    });
  });
};
