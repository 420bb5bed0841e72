import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { type Api, patientApiOf, type Reply } from '../support/api.js';
import { type EmbeddingsServer, startEmbeddingsServer } from '../support/embeddings-server.js';
import { gate } from '../support/gate.js';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

type HistoryEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

const KNOWN = 'the player stole the ruby necklace';
const INPUT = 'who stole the ruby necklace?';
const WAIT = { timeout: 60_000, interval: 20 };
/** How long after the model's answer the server is killed, in milliseconds: before, while and after the verdict is recorded. */
const MOMENTS_MS: readonly number[] = [0, 1, 2, 3, 5, 8, 13, 21, 50];

/** The model's answer to its nth call; no two answers are alike. */
const saidAt = (call: number): string =>
  JSON.stringify({
    dialogue: `The player, I say for time ${String(call)}.`,
    action: 'SPEAK',
    stateDelta: { said: call },
    memoryStore: [`I was asked and said ${String(call)}.`],
  });

const headersOf = ({ ownerKey }: ServerUnderTest): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${ownerKey}`,
  'content-type': 'application/json',
});

/** Kill -9 at every step of an agent's turn: the same on every profile. */
export const agentKillScenarios = (profile: string, open: OpenServer, moments = MOMENTS_MS): void => {
  describe(`kill -9 within an agent's turn on ${profile}`, () => {
    let models: OpenAiServer;
    let embeddings: EmbeddingsServer;
    let server: ServerUnderTest;
    let api: Api;
    let agents = 0;
    beforeAll(async () => {
      models = await startOpenAiServer();
      embeddings = await startEmbeddingsServer();
      server = await open({
        ANIMA_CORTEX_URL: models.url,
        ANIMA_CORTEX_MODEL: 'tiny-270m',
        ANIMA_EMBEDDER: embeddings.url,
        ANIMA_EMBEDDER_MODEL: 'words',
      });
      api = patientApiOf(server.url, server.ownerKey);
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
      await models[Symbol.asyncDispose]();
      await embeddings[Symbol.asyncDispose]();
    });

    /** An agent with one memory, whose vector is ready. */
    const newAgent = async (): Promise<string> => {
      const npcId = `agent-${String((agents += 1))}`;
      expect((await api.post(`/v1/agents/${npcId}/memory`, { text: KNOWN })).status).toBe(201);
      await vi.waitFor(async () => {
        const found = await api.post(`/npcs/${npcId}/memory/recall`, { query: KNOWN });
        expect(found.body, found.text).toMatchObject([{ text: KNOWN, scoreParts: { meaning: expect.any(Number) } }]);
      }, WAIT);
      models.seen.length = 0;
      return npcId;
    };
    const say = (npcId: string): Promise<Reply> =>
      api.post(`/v1/agents/${npcId}/process`, { input: INPUT }, { 'idempotency-key': npcId });
    /** Sends a request whose result depends on the kill. */
    const sayAndDie = (npcId: string): Promise<Reply | null> => say(npcId).catch(() => null);
    const eventsOf = async (npcId: string): Promise<readonly HistoryEvent[]> =>
      (await api.get(`/npcs/${npcId}/history?limit=500`)).body.events as readonly HistoryEvent[];
    const untilRecorded = (npcId: string, type: string): Promise<void> =>
      vi.waitFor(async () => expect((await eventsOf(npcId)).map((event) => event.type)).toContain(type), WAIT);
    const untilAsked = (calls: number): Promise<void> =>
      vi.waitFor(() => expect(models.seen).toHaveLength(calls), WAIT);
    const killAndStart = async (): Promise<void> => {
      await server.restart('kill');
      api = patientApiOf(server.url, server.ownerKey);
    };

    /** Sends the same as a stream. It has joined a turn that waits for the model; `rest` is everything after that. */
    const streamOf = async (npcId: string): Promise<{ readonly rest: () => Promise<string> }> => {
      const { status, body } = await fetch(`${server.url}/v1/agents/${npcId}/process`, {
        method: 'POST',
        headers: { ...headersOf(server), accept: 'text/event-stream' },
        body: JSON.stringify({ input: INPUT }),
      });
      expect(status).toBe(200);
      if (body === null) throw new Error('the stream has no body');
      const chunks = body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
      let read = '';
      const on = async (): Promise<boolean> => {
        const { done, value } = await chunks.next();
        read += done === true ? '' : value;
        return done !== true;
      };
      while (!/event: thinking\n.*\n\n/.test(read)) expect(await on(), read).toBe(true);
      return {
        rest: async () => {
          while (await on());
          return read.slice(read.indexOf('event: verdict'));
        },
      };
    };

    /** After a kill: one turn, one verdict, one answer, each memory once, and no call after the one whose text is recorded. */
    const expectOneTurn = async (npcId: string, calls: number): Promise<void> => {
      let answer: Reply | null = null;
      await vi.waitFor(async () => {
        answer = await say(npcId);
        expect(answer.status, answer.text).toBe(200);
      }, WAIT);
      const { body, text } = answer as unknown as Reply;
      const { dialogue, stateDelta, memoryStore } = JSON.parse(saidAt(calls)) as {
        readonly dialogue: string;
        readonly stateDelta: object;
        readonly memoryStore: readonly string[];
      };
      expect(body).toMatchObject({ dialogue, action: { type: 'SPEAK' }, stateChanges: stateDelta });
      expect(body.memoriesRecalled).toEqual([KNOWN]);
      expect((await say(npcId)).text).toBe(text);

      const events = await eventsOf(npcId);
      expect(events.map(({ type }) => type)).toEqual([
        'MemoryStored',
        'TurnOpened',
        'MemoriesRecalled',
        'VerdictReached',
        'StateChanged',
        'MemoryStored',
      ]);
      expect(events[3]?.data).toMatchObject({ turnId: body.turnId as string, generatedOutput: saidAt(calls) });
      expect(models.seen).toHaveLength(calls);
      await vi.waitFor(async () => {
        const stored = (await api.get(`/npcs/${npcId}/memory`)).body as readonly { readonly text: string }[];
        expect(stored.map((memory) => memory.text)).toEqual([KNOWN, ...memoryStore]);
      }, WAIT);
    };

    it('opened, during the recall', async () => {
      const npcId = await newAgent();
      models.behave({ kind: 'answer', text: saidAt(1) });
      embeddings.next.push(() => undefined);
      const recalling = embeddings.came(embeddings.seen.length + 1);
      const asked = sayAndDie(npcId);
      await untilRecorded(npcId, 'TurnOpened');
      await recalling;
      await killAndStart();
      expect(await asked).toBeNull();
      await expectOneTurn(npcId, 1);
    });

    it('recalled, while the model thinks', async () => {
      const npcId = await newAgent();
      models.behave({ kind: 'silent' }, { kind: 'answer', text: saidAt(2) });
      const asked = sayAndDie(npcId);
      await untilRecorded(npcId, 'MemoriesRecalled');
      await untilAsked(1);
      await killAndStart();
      expect(await asked).toBeNull();
      await expectOneTurn(npcId, 2);
    });

    it('answered by the model, except for a last byte', async () => {
      const npcId = await newAgent();
      models.behave({ kind: 'almost', text: saidAt(1) }, { kind: 'answer', text: saidAt(2) });
      const asked = sayAndDie(npcId);
      await untilAsked(1);
      await killAndStart();
      expect(await asked).toBeNull();
      await expectOneTurn(npcId, 2);
    });

    it('continues after the kill, and the same input without a key joins it [7.1q]', async () => {
      const npcId = await newAgent();
      const answer = gate();
      models.behave({ kind: 'silent' }, { kind: 'answer', text: saidAt(2), after: answer.opened });
      const asked = api.post(`/v1/agents/${npcId}/process`, { input: INPUT }).catch(() => null);
      await untilAsked(1);
      await killAndStart();
      expect(await asked).toBeNull();
      await untilAsked(2);
      const joined = await Promise.all([streamOf(npcId), streamOf(npcId)]);
      answer.open();
      const [one, other] = await Promise.all(joined.map((stream) => stream.rest()));
      expect(one).toContain('for time 2.');
      expect(other).toBe(one);
      const types = (await eventsOf(npcId)).map(({ type }) => type);
      expect(types.filter((type) => type === 'TurnOpened' || type === 'VerdictReached')).toHaveLength(2);
      expect(models.seen).toHaveLength(2);
    });

    it.each(moments)(
      'answered by the model %d ms before',
      async (ms) => {
        const npcId = await newAgent();
        const answer = gate();
        models.behave({ kind: 'answer', text: saidAt(1), after: answer.opened }, { kind: 'answer', text: saidAt(2) });
        const asked = sayAndDie(npcId);
        await untilAsked(1);
        answer.open();
        await sleep(ms);
        await killAndStart();
        const reply = await asked;
        // Only the record shows whether the answer arrived: then the model is not called again.
        await untilRecorded(npcId, 'VerdictReached');
        const verdict = (await eventsOf(npcId)).find(({ type }) => type === 'VerdictReached');
        const calls = verdict?.data['generatedOutput'] === saidAt(1) ? 1 : 2;
        if (reply !== null) expect([reply.status, calls]).toEqual([200, 1]);
        await expectOneTurn(npcId, calls);
      },
      120_000,
    );

    it('ended, without a waiting client [7.1t]', async () => {
      const npcId = await newAgent();
      const answer = gate();
      models.behave({ kind: 'answer', text: saidAt(1), after: answer.opened }, { kind: 'answer', text: saidAt(2) });
      const left = new AbortController();
      const asked = fetch(`${server.url}/v1/agents/${npcId}/process`, {
        method: 'POST',
        headers: { ...headersOf(server), 'idempotency-key': npcId },
        body: JSON.stringify({ input: INPUT }),
        signal: left.signal,
      }).catch(() => null);
      await untilAsked(1);
      left.abort();
      expect(await asked).toBeNull();
      answer.open();
      await untilRecorded(npcId, 'VerdictReached');
      await killAndStart();
      await expectOneTurn(npcId, 1);
    });

    it('answered', async () => {
      const npcId = await newAgent();
      models.behave({ kind: 'answer', text: saidAt(1) }, { kind: 'answer', text: saidAt(2) });
      const first = await say(npcId);
      expect(first.status, first.text).toBe(200);
      await killAndStart();
      expect((await say(npcId)).text).toBe(first.text);
      await expectOneTurn(npcId, 1);
    });
  });
};
