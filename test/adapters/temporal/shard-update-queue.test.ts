import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { UPDATE_TIMEOUT_MS } from '../../../src/adapters/temporal/step-update.js';
import { createServerClock } from '../../../src/adapters/temporal/server-clock.js';
import { LATER_PAUSE_MS, ShardUpdateQueue } from '../../../src/adapters/temporal/shard-update-queue.js';
import { jsonBytes } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { UpdateBatch, BatchedReply, BatchReply } from '../../../workflows/temporal/process-batch.js';
import { BATCH_STEPS, BATCH_BYTES } from '../../../src/kernel/processes/process-limits.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';
import { onBehalf } from '../../support/streams.js';

/** How far Temporal's clock is ahead of ours here, in milliseconds. */
const APART_MS = 1_000_000;
const unavailable = { code: 'ENGINE_UNAVAILABLE', retryAfter: 1, retrySpread: 2 };
const answered = (answer: unknown): BatchedReply => ({ answer, revision: 1, position: 1 });
const idsOf = ({ asks }: UpdateBatch): readonly string[] => asks.map(({ by }) => by.commandId);

/** Sends asks whose batches wait until the test answers them. */
const asking = () => {
  const clock = new ManualClock();
  const serverClock = createServerClock();
  const sent: { readonly batch: UpdateBatch; readonly answer: (reply: BatchReply | Promise<never>) => void }[] = [];
  const shard = new ShardUpdateQueue({
    clock,
    serverClock,
    send: async (batch) => {
      const { opened, open } = gate<BatchReply | Promise<never>>();
      sent.push({ batch, answer: open });
      return opened;
    },
  });
  const ask = (id: string, text = '', signal = new AbortController().signal) => {
    const ref = { process: 'turn', id, stream: npcStream('studio', id) };
    const reply = shard.ask(ref, [{ type: 'note', text }], onBehalf(id), signal);
    return reply.then(
      (value) => value,
      (error: unknown) => error,
    );
  };
  /** Answers the batch with this number. */
  const reply = async (number: number, ...replies: readonly BatchedReply[]): Promise<void> => {
    sent[number]?.answer({ atMs: clock.monotonicMs() + APART_MS, replies });
    await settle(2);
  };
  return { clock, serverClock, sent, ask, reply, batches: () => sent.map(({ batch }) => idsOf(batch)) };
};

describe('The asks to one shard', () => {
  it('are sent immediately when no batch is in flight, and otherwise with the next batch', async () => {
    const { ask, reply, batches } = asking();
    const asks = ['a', 'b', 'c'].map((id) => ask(id));
    expect(batches()).toEqual([['a']]);
    await reply(0, answered('to a'));
    expect(batches()).toEqual([['a'], ['b', 'c']]);
    await reply(1, answered('to b'), answered('to c'));
    expect(await Promise.all(asks)).toEqual([answered('to a'), answered('to b'), answered('to c')]);
    void ask('d');
    expect(batches()).toHaveLength(3);
  });

  it('each get their own answer, refusal or failure', async () => {
    const { ask, reply } = asking();
    const first = ask('first');
    const refused: BatchedReply = { refused: { code: 'CONFLICT', message: '', details: {} } };
    const asks = ['a', 'b', 'c', 'd'].map((id) => ask(id));
    await reply(0, answered('to first'));
    await reply(1, answered('to a'), refused, { failed: 'killed' });
    expect(await first).toEqual(answered('to first'));
    const [a, b, c, d] = await Promise.all(asks);
    expect([a, b]).toEqual([answered('to a'), refused]);
    expect(c).toMatchObject({ message: 'killed' });
    expect(d).toBeInstanceOf(Error);
  });

  it('fail with their batch, and those behind it continue', async () => {
    const { ask, reply, sent } = asking();
    const [a, b] = [ask('a'), ask('b')];
    sent[0]?.answer(Promise.reject(new Error('sent in vain')));
    expect(await a).toMatchObject({ message: 'sent in vain' });
    await reply(1, answered('to b'));
    expect(await b).toEqual(answered('to b'));
  });

  it('are sent again a little later when the step takes long', async () => {
    const { clock, ask, reply, batches } = asking();
    const slow = ask('slow');
    await reply(0, { later: true });
    await clock.advance(LATER_PAUSE_MS - 1);
    expect(batches()).toHaveLength(1);
    await clock.advance(1);
    expect(batches()).toEqual([['slow'], ['slow']]);
    await reply(1, answered('at last'));
    expect(await slow).toEqual(answered('at last'));
  });

  it('carry their deadline once the server’s clock is known', async () => {
    const { clock, sent, ask, reply } = asking();
    void ask('a');
    expect(sent[0]?.batch.asks[0]?.untilMs).toBeNull();
    await clock.advance(50);
    void ask('b');
    await clock.advance(150);
    await reply(0, answered('to a'));
    // The answer reports 200 ms more on the server's clock after 200 ms, so the difference is taken for 200 ms larger.
    expect(sent[1]?.batch.asks[0]?.untilMs).toBe(50 + UPDATE_TIMEOUT_MS + APART_MS + 200);
  });

  it('are sent again immediately when they were late by a wrong estimate of the clock', async () => {
    const { clock, serverClock, sent, ask, reply } = asking();
    serverClock.note(0, 5);
    const mistaken = ask('a');
    expect(sent[0]?.batch.asks[0]?.untilMs).toBe(UPDATE_TIMEOUT_MS + 5);
    await reply(0, { late: true });
    await clock.advance(0);
    expect(sent[1]?.batch.asks[0]?.untilMs).toBe(UPDATE_TIMEOUT_MS + APART_MS);
    await reply(1, answered('to a'));
    expect(await mistaken).toEqual(answered('to a'));
  });

  it('keep the estimate when they were late by our clock as well', async () => {
    const { clock, serverClock, ask, reply } = asking();
    serverClock.note(0, APART_MS);
    const late = ask('a');
    await clock.advance(UPDATE_TIMEOUT_MS);
    expect(await late).toMatchObject(unavailable);
    await reply(0, { late: true });
    expect(serverClock.at(0)).toBe(APART_MS);
  });

  it('end at their time limit, whatever happened to their batch, and are not sent afterwards [1.5h]', async () => {
    expect(UPDATE_TIMEOUT_MS).toBe(8_000);
    const { clock, ask, reply, batches } = asking();
    const asks = [ask('sent'), ask('waiting')];
    await clock.advance(UPDATE_TIMEOUT_MS - 1);
    const young = ask('young');
    await clock.advance(1);
    for (const late of asks) expect(await late).toMatchObject(unavailable);
    await reply(0, answered('too late'));
    expect(batches()).toEqual([['sent'], ['young']]);
    await reply(1, answered('in time'));
    expect(await young).toEqual(answered('in time'));
  });

  it('end when their caller leaves, before or after they were sent', async () => {
    const { ask, reply, batches } = asking();
    const gone = new Error('gone');
    const [first, second] = [new AbortController(), new AbortController()];
    const asks = [ask('sent', '', first.signal), ask('waiting', '', second.signal)];
    const third = ask('third');
    first.abort(gone);
    second.abort(gone);
    expect(await Promise.all(asks)).toEqual([gone, gone]);
    expect(await ask('never', '', AbortSignal.abort(gone))).toBe(gone);
    await reply(0, answered('to nobody'));
    expect(batches()).toEqual([['sent'], ['third']]);
    await reply(1, answered('to third'));
    expect(await third).toEqual(answered('to third'));
  });

  const outcome = fc.constantFrom('answer', 'answer', 'answer', 'refuse', 'fail', 'later', 'late', 'none');
  const script = fc.record({
    bursts: fc.array(
      fc.record({
        pauseMs: fc.integer({ min: 0, max: 3_000 }),
        asks: fc.array(
          fc.record({
            process: fc.integer({ min: 0, max: 4 }),
            bytes: fc.oneof(
              { weight: 20, arbitrary: fc.integer({ min: 0, max: 50 }) },
              { weight: 1, arbitrary: fc.integer({ min: 0, max: BATCH_BYTES + 1_000 }) },
            ),
          }),
          { maxLength: 60 },
        ),
        times: fc.constantFrom(1, 1, 5),
      }),
      { maxLength: 6 },
    ),
    exchanges: fc.array(
      fc.record({
        takesMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constant(2 * UPDATE_TIMEOUT_MS)),
        isLost: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
        outcomes: fc.array(outcome, { minLength: 1, maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 30 },
    ),
  });
  const replyOf = (kind: string, id: string): BatchedReply | undefined => {
    if (kind === 'answer') return answered(id);
    if (kind === 'refuse') return { refused: { code: 'CONFLICT', message: id, details: {} } };
    if (kind === 'fail') return { failed: id };
    if (kind === 'later') return { later: true };
    return kind === 'late' ? { late: true } : undefined;
  };

  it('settle once each with their own answer, in bounded batches, one batch at a time, and in order', async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ bursts, exchanges }) => {
        const clock = new ManualClock();
        const broken: string[] = [];
        const check = (holds: boolean, promise: string): void => {
          if (!holds) broken.push(promise);
        };
        const firstSent = new Map<string, string[]>();
        const known = new Set<string>();
        let underWay = 0;
        let sent = 0;
        const send = async (batch: UpdateBatch): Promise<BatchReply> => {
          underWay += 1;
          check(underWay === 1, 'one at a time');
          check(batch.asks.length > 0 && batch.asks.length <= BATCH_STEPS, 'so many');
          const bytes = batch.asks.reduce((sum, { ref, inputs, by }) => sum + jsonBytes({ ref, inputs, by }), 0);
          check(batch.asks.length === 1 || bytes <= BATCH_BYTES, 'so many bytes');
          check(batch.bytes === bytes, 'as many as it says');
          check(new Set(idsOf(batch)).size === batch.asks.length, 'each once');
          for (const { ref, by } of batch.asks) {
            if (known.has(by.commandId)) continue;
            known.add(by.commandId);
            firstSent.set(ref.id, [...(firstSent.get(ref.id) ?? []), by.commandId]);
          }
          const exchange = exchanges[sent % exchanges.length];
          sent += 1;
          await new Promise<void>((resolve) => clock.after(exchange?.takesMs ?? 0, resolve));
          underWay -= 1;
          if (exchange?.isLost === true) throw new Error('lost');
          const outcomes = exchange?.outcomes ?? [];
          const replies = idsOf(batch).map((id, at) => replyOf(outcomes[at % outcomes.length] ?? '', id));
          return { atMs: clock.monotonicMs(), replies: replies as readonly BatchedReply[] };
        };
        const shard = new ShardUpdateQueue({ clock, serverClock: createServerClock(), send });
        const asked = new Map<string, string[]>();
        let [count, settled] = [0, 0];
        for (const { pauseMs, asks, times } of bursts) {
          for (const { process, bytes } of Array.from({ length: times }, () => asks).flat()) {
            const commandId = `c${String((count += 1))}`;
            const ref = { process: 'turn', id: `p${String(process)}`, stream: npcStream('studio', 'mira') };
            asked.set(ref.id, [...(asked.get(ref.id) ?? []), commandId]);
            const inputs = [{ type: 'note', text: 'x'.repeat(bytes) }];
            void shard.ask(ref, inputs, onBehalf(commandId), new AbortController().signal).then(
              (reply) => {
                settled += 1;
                const own = 'answer' in reply ? reply.answer : 'refused' in reply && reply.refused.message;
                check(own === commandId, 'its own reply');
              },
              (error: unknown) => {
                settled += 1;
                const { code, message } = error as { code?: string; message: string };
                const own = [commandId, 'lost', 'the response of the batch does not contain this answer'].includes(
                  message,
                );
                check(own || code === unavailable.code, 'its own failure');
              },
            );
          }
          await clock.advance(pauseMs);
        }
        await clock.advance(UPDATE_TIMEOUT_MS);
        expect(settled).toBe(count);
        for (const [process, ids] of firstSent) {
          const order = (asked.get(process) ?? []).filter((id) => known.has(id));
          expect(ids).toEqual(order);
        }
        await clock.advance(4 * UPDATE_TIMEOUT_MS);
        expect(underWay).toBe(0);
        expect(broken).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
