import { afterEach, describe, expect, it, vi } from 'vitest';

import type { ProcessWithEffects } from '../../src/kernel/processes/process-effects.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { makeProcessId } from '../../src/kernel/crypto/process-id.js';
import { findBreak } from '../support/find-break.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import type { CommandContext } from '../../src/kernel/base/command-context.js';
import type { ProcessRuntime, ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import { FIRST_RETRY_MS, OUTCOME_WAITERS } from '../../src/kernel/processes/process-limits.js';
import { race, raceEffects, type RaceEffects } from '../support/relay-race.js';

/** What a runtime supplies to the suite. `fault` runs before every append and may throw, like a store that dies. */
export type RuntimeUnderTest = {
  readonly runtime: ProcessRuntime;
  readonly store: EventStore;
  readonly nowMs: () => number;
  /** How far off a deadline is that a test waits for: short if time is the machine's own. */
  readonly soonMs: number;
  /** Advances time; due work begins before it resolves. */
  readonly advance: (ms: number) => Promise<void>;
  /** Ends the runtime like a killed process, and starts another one on the same store. */
  readonly restart: () => Promise<ProcessRuntime>;
  dispose(): Promise<void>;
};
export type OpenRuntime = (options: {
  readonly processes: Readonly<Record<string, ProcessWithEffects>>;
  readonly fault: AppendFault;
}) => Promise<RuntimeUnderTest>;

/** Where an append breaks: refused by an unavailable store before it is written, or after, so that the caller gets no answer. */
export type AppendFault = { at: 'none' | 'away' | 'before' | 'after'; onFault?: () => void };

const TENANT = 'studio';
const stream = npcStream(TENANT, 'runner');
const OTHER_TENANT = 'elsewhere';
const otherStream = npcStream(OTHER_TENANT, 'runner');
const by = (commandId: string, tenant = TENANT): CommandContext => ({
  tenant,
  actor: 'key',
  commandId,
  correlationId: commandId,
  causationId: null,
});

/** Every runtime drives the same processes to the same events and the same answers. */
export const processRuntimeContract = (name: string, open: OpenRuntime): void => {
  describe(`process engine: ${name}`, () => {
    let running: RuntimeUnderTest | undefined;
    afterEach(async () => {
      await running?.dispose();
      running = undefined;
    });

    const setUp = async (host: Partial<ProcessWithEffects> = {}) => {
      const effects: RaceEffects = { deliver: () => Promise.resolve('parcel'), ran: [] };
      const fault: AppendFault = { at: 'none' };
      const under = await open({ processes: { [race.name]: { ...raceEffects(effects), ...host } }, fault });
      running = under;
      const ref: ProcessRef = { process: race.name, id: makeProcessId('r', -1, under.nowMs(), 'start'), stream };
      const startDue = (ms: number): ProcessInput => ({
        type: 'start',
        raceId: ref.id,
        deadlineAt: new Date(under.nowMs() + ms).toISOString(),
      });
      const start = startDue(60_000);
      const recorded = async (of = stream): Promise<readonly RecordedEvent[]> =>
        (await under.store.read(of, { direction: 'forwards', limit: 4096 })).events;
      const types = async (of = stream) => (await recorded(of)).map(({ type }) => type);
      const until = async (type: string, of = stream): Promise<void> => {
        // A task that died with its worker is reassigned after seconds, on a busy machine after many.
        for (let tries = 0; tries < 4_000; tries += 1) {
          if ((await types(of)).includes(type)) return;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        throw new Error(`${type} was never recorded: ${(await types(of)).join(', ')}`);
      };
      /** A process with the same id in another tenant's stream. */
      const other: ProcessRef = { ...ref, stream: otherStream };
      return { ...under, under, effects, fault, ref, other, start, startDue, recorded, types, until };
    };

    it('records the events of a step before it answers [2.6a]', async () => {
      const { runtime, ref, start, types } = await setUp();
      const { answer, revision } = await runtime.ask(ref, [start], by('start'));
      expect(answer).toEqual({ name: 'started' });
      expect(revision).toBe(0);
      expect((await types())[0]).toBe('RaceStarted');
    });

    it('runs an effect without delaying the answer, and feeds its result back', async () => {
      const { runtime, ref, start, until, effects } = await setUp();
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      expect((await runtime.ask(ref, [start], by('start'))).answer).toMatchObject({ name: 'started' });
      const release = await running;
      release('late parcel');
      await until('RaceDelivered');
      expect((await runtime.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
    });

    it('answers a repeated input from the record and adds no second event', async () => {
      const { runtime, ref, start, until, recorded } = await setUp();
      await runtime.ask(ref, [start], by('start'));
      await until('RaceDelivered');
      const first = await runtime.ask(ref, [{ type: 'finish' }], by('finish'));
      const again = await runtime.ask(ref, [{ type: 'finish' }], by('again'));
      expect(again.answer).toEqual(first.answer);
      expect((await recorded()).filter(({ type }) => type === 'RaceFinished')).toHaveLength(1);
    });

    it('handles concurrent inputs one after the other: one of them records', async () => {
      const { runtime, ref, start, recorded } = await setUp();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => runtime.ask(ref, [start], by(`start ${String(n)}`))),
      );
      expect(new Set(answers.map(({ answer }) => JSON.stringify(answer))).size).toBe(1);
      expect((await recorded()).filter(({ type }) => type === 'RaceStarted')).toHaveLength(1);
    });

    it('runs the steps of many processes of one stream in parallel, and refuses none', async () => {
      const { runtime, start, nowMs, recorded } = await setUp();
      const refs = Array.from({ length: 12 }, (_, n): ProcessRef => {
        return { process: race.name, id: makeProcessId('r', -1, nowMs(), `start ${String(n)}`), stream };
      });
      const answers = await Promise.all(
        refs.map((ref) => runtime.ask(ref, [{ ...start, raceId: ref.id }], by(`start ${ref.id}`))),
      );
      expect(answers.map(({ answer }) => answer)).toEqual(refs.map(() => ({ name: 'started' })));
      const events = await recorded();
      expect(events.filter(({ type }) => type === 'RaceStarted')).toHaveLength(refs.length);
      expect(findBreak(events)).toBeNull();
    });

    it('refuses what the state machine refuses, records nothing, and continues', async () => {
      const { runtime, ref, start, types } = await setUp();
      await expect(runtime.ask(ref, [{ type: 'finish' }], by('early'))).rejects.toMatchObject({
        code: 'TURN_NOT_FOUND',
      });
      expect(await types()).toEqual([]);
      expect((await runtime.ask(ref, [start], by('start'))).answer).toMatchObject({ name: 'started' });
      await expect(runtime.ask(ref, [{ type: 'refuse' }], by('refuse'))).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    it('acts on a deadline without any request', async () => {
      const { runtime, ref, startDue, soonMs, advance, until, effects } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      await runtime.ask(ref, [startDue(soonMs)], by('start'));
      await advance(0.6 * soonMs);
      expect((await runtime.ask(ref, [], by('look'))).answer).toMatchObject({ name: 'started' });
      await advance(0.5 * soonMs);
      await until('RaceGivenUp');
    });

    it('cancels an effect when the state stops waiting for it', async () => {
      const { runtime, ref, startDue, soonMs, advance, until, effects } = await setUp();
      let aborted = false;
      effects.deliver = (signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (aborted = true));
        });
      await runtime.ask(ref, [startDue(soonMs)], by('start'));
      await advance(1.1 * soonMs);
      await until('RaceGivenUp');
      // The cancellation may take a while to arrive.
      await vi.waitFor(() => expect(aborted).toBe(true), { timeout: 5_000 });
    });

    it('continues after a restart in every state: same answers, no second event, effects resumed', async () => {
      const { runtime, ref, start, restart, until, effects, types } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      const first = await runtime.ask(ref, [start], by('start'));
      effects.deliver = () => Promise.resolve('after the restart');
      const second = await restart();
      expect((await second.ask(ref, [start], by('start'))).answer).toEqual(first.answer);
      await until('RaceDelivered');
      const third = await restart();
      expect((await third.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      const fourth = await restart();
      expect((await fourth.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      expect(await types()).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
    });

    it('acts on a deadline that was missed while nothing ran', async () => {
      const { runtime, ref, startDue, soonMs, advance, restart, until, effects, under } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      await runtime.ask(ref, [startDue(soonMs)], by('start'));
      await runtime[Symbol.asyncDispose]();
      await advance(2 * soonMs);
      await restart();
      await advance(1);
      await until('RaceGivenUp');
      expect(under.nowMs()).toBeGreaterThan(0);
    });

    it.each(['before', 'after'] as const)(
      'killed %s the append: the repeat makes the same events as an uninterrupted run',
      async (at) => {
        const { runtime, ref, start, restart, until, fault, types, recorded } = await setUp();
        fault.at = at;
        await expect(runtime.ask(ref, [start], by('start'))).rejects.toThrow();
        fault.at = 'none';
        const next = await restart();
        expect((await next.ask(ref, [start], by('start'))).answer).toEqual({ name: 'started' });
        await until('RaceDelivered');
        expect(await types()).toEqual(['RaceStarted', 'RaceDelivered']);
        expect(findBreak(await recorded())).toBeNull();
      },
    );

    it('retries a failed effect', async () => {
      const { runtime, ref, start, until, effects, advance, soonMs } = await setUp();
      let failures = 0;
      effects.deliver = () =>
        failures++ === 0 ? Promise.reject(new Error('the road is closed')) : Promise.resolve('second try');
      await runtime.ask(ref, [start], by('start'));
      await vi.waitFor(() => expect(failures).toBe(1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await advance(soonMs);
      await until('RaceDelivered');
      expect(failures).toBe(2);
    });

    it('ends an attempt at an effect that takes too long, and retries it', async () => {
      const { runtime, ref, start, effects, advance, until } = await setUp({ effectMs: 1_000 });
      const aborted: unknown[] = [];
      effects.deliver = (signal) =>
        new Promise((resolve) => {
          if (aborted.length > 0) resolve('second try');
          signal.addEventListener('abort', () => aborted.push(signal.reason));
        });
      await runtime.ask(ref, [start], by('start'));
      await vi.waitFor(() => expect(effects.ran).toContain('deliver'), { timeout: 5_000 });
      await advance(1_000);
      await vi.waitFor(() => expect(aborted).toHaveLength(1), { timeout: 5_000 });
      await advance(FIRST_RETRY_MS);
      await until('RaceDelivered');
      expect(String(aborted[0])).toContain('the effect deliver took longer than 1000 ms');
    });

    it('keeps the result of an effect until it can be recorded', async () => {
      const { runtime, ref, start, effects, fault, advance, until } = await setUp();
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      await runtime.ask(ref, [start], by('start'));
      const release = await running;
      let refusals = 0;
      fault.at = 'before';
      fault.onFault = () => (refusals += 1);
      release('a dear parcel');
      await vi.waitFor(() => expect(refusals).toBeGreaterThan(0), { timeout: 5_000 });
      fault.at = 'none';
      await new Promise((resolve) => setTimeout(resolve, 20));
      await advance(2 * FIRST_RETRY_MS);
      await until('RaceDelivered');
      expect(effects.ran).toHaveLength(1);
    });

    it('keeps processes with the same id in two streams apart: asks, deadlines, effects and cancellations', async () => {
      const { runtime, ref, other, startDue, soonMs, advance, until, types, effects, restart } = await setUp();
      const aborted: string[] = [];
      effects.deliver = (signal, of) =>
        new Promise(() => {
          signal.addEventListener('abort', () => aborted.push(of.stream));
        });
      await runtime.ask(ref, [startDue(soonMs)], by('start'));
      await expect(runtime.ask(other, [{ type: 'finish' }], by('early', OTHER_TENANT))).rejects.toMatchObject({
        code: 'TURN_NOT_FOUND',
      });
      expect((await runtime.ask(other, [startDue(10 * soonMs)], by('start', OTHER_TENANT))).answer).toMatchObject({
        name: 'started',
      });
      await vi.waitFor(() => expect(effects.ran).toHaveLength(2));
      await advance(1.1 * soonMs);
      await until('RaceGivenUp');
      await vi.waitFor(() => expect(aborted).toEqual([stream]), { timeout: 5_000 });
      expect(await types(otherStream)).toEqual(['RaceStarted']);
      effects.deliver = (_, of) => Promise.resolve(`parcel for ${of.stream}`);
      const next = await restart();
      await until('RaceDelivered', otherStream);
      expect((await next.ask(other, [{ type: 'finish' }], by('finish', OTHER_TENANT))).answer).toMatchObject({
        name: 'finished',
      });
      expect((await next.ask(ref, [], by('look'))).answer).toMatchObject({ name: 'givenUp' });
    });

    it('returns the outcome once the effect has ended, and immediately if there is no effect', async () => {
      const { runtime, ref, start, effects, until } = await setUp();
      const within = { withinMs: 30_000 };
      expect((await runtime.outcome(ref, by('before'), within))?.answer).toEqual({ name: 'new' });
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      await runtime.ask(ref, [start], by('start'));
      const release = await running;
      let isThere = false;
      const outcomes = [1, 2].map((n) =>
        runtime.outcome(ref, by(`while ${String(n)}`), within).finally(() => (isThere = true)),
      );
      await runtime.ask(ref, [], by('look'));
      expect(isThere).toBe(false);
      release('parcel');
      for (const outcome of await Promise.all(outcomes)) {
        expect(outcome).toMatchObject({ answer: { name: 'delivered' }, revision: 1 });
      }
      await until('RaceDelivered');
      expect((await runtime.outcome(ref, by('after'), within))?.answer).toMatchObject({ name: 'delivered' });
      await runtime.ask(ref, [{ type: 'finish' }], by('finish'));
      expect((await runtime.outcome(ref, by('over'), within))?.answer).toMatchObject({ name: 'finished' });
    });

    it('returns the outcome also when the process gives up its effect', async () => {
      const { runtime, ref, startDue, soonMs, advance, effects } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      await runtime.ask(ref, [startDue(soonMs)], by('start'));
      const outcome = runtime.outcome(ref, by('while'), { withinMs: 4 * soonMs });
      await new Promise((resolve) => setTimeout(resolve, 20));
      await advance(1.1 * soonMs);
      expect((await outcome)?.answer).toMatchObject({ name: 'givenUp' });
    });

    it('ends the wait for an outcome when the time is up or the caller has gone; the process continues', async () => {
      const { runtime, ref, start, effects, advance, until } = await setUp();
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      await runtime.ask(ref, [start], by('start'));
      const release = await running;
      const late = runtime.outcome(ref, by('late'), { withinMs: 500 });
      const abort = new AbortController();
      const gone = expect(runtime.outcome(ref, by('gone'), { withinMs: 30_000, signal: abort.signal })).rejects.toThrow(
        'the client has gone',
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      await advance(500);
      expect(await late).toBeNull();
      abort.abort(new Error('the client has gone'));
      await gone;
      release('parcel');
      await until('RaceDelivered');
    });

    it('limits the callers that wait for one outcome', async () => {
      const { runtime, ref, start, effects } = await setUp();
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      await runtime.ask(ref, [start], by('start'));
      const release = await running;
      const waits = Array.from({ length: OUTCOME_WAITERS + 1 }, (_, n) =>
        runtime.outcome(ref, by(`waiter ${String(n)}`), { withinMs: 30_000 }).then(
          (outcome) => outcome?.answer,
          (refusal: unknown) => {
            // The others have been waiting until now.
            release('parcel');
            return refusal;
          },
        ),
      );
      const settled = await Promise.all(waits);
      const refusals = settled.filter((result) => result instanceof Error);
      expect(refusals).toMatchObject([{ code: 'BUSY', retryAfter: 1 }]);
      const answer = { name: 'delivered' };
      expect(settled.filter((result) => !(result instanceof Error))).toEqual(
        Array.from({ length: OUTCOME_WAITERS }, () => answer),
      );
    });

    it('keeps outcomes of processes with the same id in two streams apart', async () => {
      const { runtime, ref, other, start, effects, types } = await setUp();
      effects.deliver = (_, of) => (of.stream === stream ? Promise.resolve('parcel') : new Promise(() => undefined));
      await runtime.ask(ref, [start], by('start'));
      expect(await types(otherStream)).toEqual([]);
      await runtime.ask(other, [start], by('start', OTHER_TENANT));
      const within = { withinMs: 30_000 };
      const abort = new AbortController();
      const gone = expect(
        runtime.outcome(other, by('wait', OTHER_TENANT), { ...within, signal: abort.signal }),
      ).rejects.toThrow('enough');
      expect((await runtime.outcome(ref, by('wait'), within))?.answer).toMatchObject({ name: 'delivered' });
      abort.abort(new Error('enough'));
      await gone;
      expect(await types(otherStream)).toEqual(['RaceStarted']);
    });

    it('shares a stream: foreign events in between change neither events nor answers', async () => {
      const { runtime, ref, start, store, recorded, until } = await setUp();
      await runtime.ask(ref, [start], by('start'));
      await until('RaceDelivered');
      const { events, lastRevision } = await store.read(stream, { direction: 'backwards', limit: 1 });
      const head = events[0];
      if (head === undefined) throw new Error('the stream is empty');
      const meta = { ...head.meta, commandId: 'foreign', prevHash: head.meta.hash };
      delete (meta as { process?: unknown }).process;
      await store.append(stream, lastRevision, [
        { id: '018f0000-0000-8000-8000-00000000f0e1', type: 'Foreign', data: {}, meta },
      ]);
      expect((await runtime.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      expect((await recorded()).map(({ type }) => type)).toEqual([
        'RaceStarted',
        'RaceDelivered',
        'Foreign',
        'RaceFinished',
      ]);
    });
  });
};
