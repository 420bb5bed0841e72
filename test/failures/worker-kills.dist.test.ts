import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { apiOf, type Reply } from '../support/api.js';
import type { Child } from '../support/child.js';
import { type Namespace, openNamespace, type ServingProcess } from '../support/distributed-server.js';
import { TcpRelay } from '../support/tcp-relay.js';
import { eventsOfStep, resultsOf } from '../support/writers.js';

/** How long a step may take to be answered, and a worker to reach the awaited point, in milliseconds. */
const ANSWER_LIMIT_MS = 150_000;
const REACHED_LIMIT_MS = 150_000;
const LOOK_MS = 20;

/** A worker that reaches the event store and Temporal over relays. */
type Worker = AsyncDisposable & { readonly child: Child; readonly store: TcpRelay; readonly temporal: TcpRelay };
/** The events of the mind so far, by type. */
type Recorded = () => Promise<readonly string[]>;

/** Where in a step the worker is killed: the preparation before the step is sent, and how the worker shows that it got there. */
type Phase = {
  readonly arm: (worker: Worker) => void;
  readonly reached: (worker: Worker, recorded: Recorded, before: number) => Promise<boolean>;
};
const phases: Readonly<Record<string, Phase>> = {
  'while it waits for work': { arm: () => undefined, reached: () => Promise.resolve(true) },
  'in a step, before anything of it is written': {
    arm: ({ store }) => store.silence(true),
    reached: ({ store }) => Promise.resolve(store.swallowed > 0),
  },
  'in a step that is written, before Temporal hears of it': {
    arm: ({ temporal }) => temporal.deafen(true),
    reached: async (_, recorded, before) => (await recorded()).length > before,
  },
};

const until = async (what: string, limitMs: number, look: () => Promise<boolean>): Promise<void> => {
  const late = Date.now() + limitMs;
  while (!(await look())) {
    if (Date.now() > late) throw new Error(`${String(limitMs)} ms passed, and still not ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

describe('the worker', () => {
  let namespace: Namespace;
  let http: ServingProcess;
  const workers: Worker[] = [];

  const startWorker = async (): Promise<Worker> => {
    const { EVENTSTORE_URL, TEMPORAL_ADDRESS } = namespace.settings;
    const store = new TcpRelay({ host: '127.0.0.1', port: Number(new URL(EVENTSTORE_URL).port) });
    const temporal = new TcpRelay({ host: '127.0.0.1', port: Number(TEMPORAL_ADDRESS.split(':').at(-1)) });
    await Promise.all([store.open(), temporal.open()]);
    const { child } = await namespace.start('worker', {
      EVENTSTORE_URL: `esdb://127.0.0.1:${String(store.port)}?tls=false`,
      TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal.port)}`,
    });
    const worker: Worker = {
      child,
      store,
      temporal,
      [Symbol.asyncDispose]: async () => {
        await child.kill();
        await store.close();
        await temporal.close();
      },
    };
    workers.push(worker);
    // It listens before it accepts work; here it must already be polling.
    expect(await bodyOf(`warm ${String(workers.length)}`).step(0)).toBe(answers[0]);
    return worker;
  };

  beforeAll(async () => {
    namespace = await openNamespace();
    http = await namespace.start('http,projector,relay');
  });
  // Also when it failed: a leftover worker would do the next test's work.
  afterEach(async () => {
    for (const worker of workers) await worker[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
  });

  /** A body of one mind, which repeats a step with the same Idempotency-Key until it is answered. */
  const bodyOf = (npcId: string) => {
    const api = apiOf(http.url, namespace.ownerKey);
    const results = resultsOf(npcId);
    const path = `/npcs/${encodeURIComponent(npcId)}`;
    const recorded: Recorded = async () => {
      const { body } = await api.get(`${path}/history?limit=500`);
      return ((body as { events?: { type: string }[] } | undefined)?.events ?? []).map(({ type }) => type);
    };
    let tape: object = { observation: `Somebody speaks to ${npcId}.` };
    let refusals = 0;
    const step = async (n: number): Promise<string> => {
      const once = { 'idempotency-key': `${npcId} ${String(n)}`.replaceAll(' ', '-') };
      let reply: Reply | null = null;
      await until('answered', ANSWER_LIMIT_MS, async () => {
        reply = await api.post(`${path}/process`, { tape, lastResult: results[n] }, once);
        if (reply.status !== 200) {
          expect([503, 409], reply.text).toContain(reply.status);
          refusals += 1;
        }
        return reply.status === 200;
      });
      const { body } = reply as unknown as { body: { tape: object; instruction: { type: string } } };
      tape = body.tape;
      return body.instruction.type;
    };
    return { step, recorded, refusals: () => refusals };
  };
  const answers = ['IdentifyActor', 'QueryVector', 'ExecuteInference', 'Finalize'];

  it.each(Object.entries(phases))(
    'may be killed in every round %s: another finishes the turn, with each event once',
    async (name, { arm, reached }) => {
      const { step, recorded } = bodyOf(`killed ${name}`);
      let worker = await startWorker();
      for (const [n, answer] of answers.entries()) {
        const before = (await recorded()).length;
        arm(worker);
        const asked = step(n);
        await until(name, REACHED_LIMIT_MS, () => reached(worker, recorded, before));
        await worker[Symbol.asyncDispose]();
        worker = await startWorker();
        expect(await asked).toBe(answer);
      }
      expect(await recorded()).toEqual(eventsOfStep.flat());
      await worker[Symbol.asyncDispose]();
    },
    300_000,
  );

  it('may be missing for so long that a first step is refused and repeated: one turn is opened', async () => {
    const { step, recorded, refusals } = bodyOf('nobody there');
    const asked = step(0);
    await until('refused', REACHED_LIMIT_MS, () => Promise.resolve(refusals() > 0));
    const worker = await startWorker();
    expect(await asked).toBe(answers[0]);
    for (const n of [1, 2, 3]) expect(await step(n)).toBe(answers[n]);
    expect(await recorded()).toEqual(eventsOfStep.flat());
    await worker[Symbol.asyncDispose]();
  }, 300_000);

  it('may freeze in a step and continue after another has made it: it adds nothing, and serves again', async () => {
    const { step, recorded } = bodyOf('frozen');
    const frozen = await startWorker();
    expect(await step(0)).toBe(answers[0]);
    frozen.store.silence(true);
    const asked = step(1);
    await until('in the step', REACHED_LIMIT_MS, () => Promise.resolve(frozen.store.swallowed > 0));
    frozen.child.signal('SIGSTOP');
    frozen.store.silence(false);
    const other = await startWorker();
    expect(await asked).toBe(answers[1]);
    expect(await step(2)).toBe(answers[2]);
    frozen.child.signal('SIGCONT');
    expect(await step(3)).toBe(answers[3]);
    await other[Symbol.asyncDispose]();
    const next = bodyOf('thawed');
    for (const [n, answer] of answers.entries()) expect(await next.step(n)).toBe(answer);
    expect(await recorded()).toEqual(eventsOfStep.flat());
    expect(await next.recorded()).toEqual(eventsOfStep.flat());
    await frozen[Symbol.asyncDispose]();
  }, 300_000);
});
