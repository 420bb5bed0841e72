import { afterEach, describe, expect, it, vi } from 'vitest';

import type { HostedProcess } from '../../src/app/processes/hosted-process.js';
import { npcStream } from '../../src/domain/shared/stream-names.js';
import { makeProcessId } from '../../src/domain/shared/process-id.js';
import { findBreak } from '../support/find-break.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import type { AskedBy, ProcessEngine, ProcessInput, ProcessRef } from '../../src/ports/process-engine.js';
import { race, raceHost, type RaceEffects } from '../support/relay-race.js';

/** What a shell brings to be held to the suite. `fault` is asked before every append and may throw, as a store that dies does. */
export type EngineUnderTest = {
  readonly engine: ProcessEngine;
  readonly store: EventStore;
  readonly nowMs: () => number;
  /** How far off a deadline is that a test waits for: short where time is the machine's own. */
  readonly soonMs: number;
  /** Moves time; what falls due begins before it resolves. */
  readonly advance: (ms: number) => Promise<void>;
  /** Ends the engine as a killed process ends, and starts another one on the same store. */
  readonly restart: () => Promise<ProcessEngine>;
  dispose(): Promise<void>;
};
export type OpenEngine = (options: {
  readonly hosts: Readonly<Record<string, HostedProcess>>;
  readonly fault: AppendFault;
}) => Promise<EngineUnderTest>;

/** Where an append is broken: before it is written, or after, so that its maker never hears of it. */
export type AppendFault = { at: 'none' | 'before' | 'after' };

const TENANT = 'studio';
const stream = npcStream(TENANT, 'runner');
const by = (commandId: string): AskedBy => ({
  tenant: TENANT,
  actor: 'key',
  commandId,
  correlationId: commandId,
  causationId: null,
});

/** Every shell drives the same processes to the same events and the same answers. */
export const processEngineContract = (name: string, open: OpenEngine): void => {
  describe(`process engine: ${name}`, () => {
    let running: EngineUnderTest | undefined;
    afterEach(async () => {
      await running?.dispose();
      running = undefined;
    });

    const setUp = async () => {
      const effects: RaceEffects = { deliver: () => Promise.resolve('parcel'), ran: [] };
      const fault: AppendFault = { at: 'none' };
      const under = await open({ hosts: { [race.name]: raceHost(effects) }, fault });
      running = under;
      const ref: ProcessRef = { process: race.name, id: makeProcessId('r', -1, under.nowMs(), 'start'), stream };
      const startDue = (ms: number): ProcessInput => ({
        type: 'start',
        raceId: ref.id,
        deadlineAt: new Date(under.nowMs() + ms).toISOString(),
      });
      const start = startDue(60_000);
      const recorded = async (): Promise<readonly RecordedEvent[]> =>
        (await under.store.read(stream, { direction: 'forwards', limit: 4096 })).events;
      const types = async () => (await recorded()).map(({ type }) => type);
      const until = async (type: string): Promise<void> => {
        for (let tries = 0; tries < 600; tries += 1) {
          if ((await types()).includes(type)) return;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        throw new Error(`${type} was never recorded: ${(await types()).join(', ')}`);
      };
      return { ...under, under, effects, fault, ref, start, startDue, recorded, types, until };
    };

    it('records the events of a step before it answers, and runs the near effect that the answer needs', async () => {
      const { engine, ref, start, types, effects } = await setUp();
      const { answer, revision } = await engine.ask(ref, [start], by('start'));
      expect(answer).toEqual({ name: 'measured', measure: 42 });
      expect(revision).toBe(1);
      expect((await types()).slice(0, 2)).toEqual(['RaceStarted', 'RaceMeasured']);
      expect(effects.ran[0]).toBe('measure');
    });

    it('runs a far effect without holding the answer back, and feeds its result in', async () => {
      const { engine, ref, start, until, effects } = await setUp();
      const running = new Promise<(parcel: string) => void>((began) => {
        effects.deliver = () => new Promise((resolve) => began(resolve));
      });
      expect((await engine.ask(ref, [start], by('start'))).answer).toMatchObject({ name: 'measured' });
      const release = await running;
      release('late parcel');
      await until('RaceDelivered');
      expect((await engine.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
    });

    it('answers a repeated input from the record and adds no second event', async () => {
      const { engine, ref, start, until, recorded } = await setUp();
      await engine.ask(ref, [start], by('start'));
      await until('RaceDelivered');
      const first = await engine.ask(ref, [{ type: 'finish' }], by('finish'));
      const again = await engine.ask(ref, [{ type: 'finish' }], by('again'));
      expect(again.answer).toEqual(first.answer);
      expect((await recorded()).filter(({ type }) => type === 'RaceFinished')).toHaveLength(1);
    });

    it('takes inputs that come at once one after the other: one of them records', async () => {
      const { engine, ref, start, recorded } = await setUp();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => engine.ask(ref, [start], by(`start ${String(n)}`))),
      );
      expect(new Set(answers.map(({ answer }) => JSON.stringify(answer))).size).toBe(1);
      expect((await recorded()).filter(({ type }) => type === 'RaceStarted')).toHaveLength(1);
      expect((await recorded()).filter(({ type }) => type === 'RaceMeasured')).toHaveLength(1);
    });

    it('takes the steps of many processes of one stream at once, and refuses none', async () => {
      const { engine, start, nowMs, recorded } = await setUp();
      const refs = Array.from({ length: 12 }, (_, n): ProcessRef => {
        return { process: race.name, id: makeProcessId('r', -1, nowMs(), `start ${String(n)}`), stream };
      });
      const answers = await Promise.all(
        refs.map((ref) => engine.ask(ref, [{ ...start, raceId: ref.id }], by(`start ${ref.id}`))),
      );
      expect(answers.map(({ answer }) => answer)).toEqual(refs.map(() => ({ name: 'measured', measure: 42 })));
      const events = await recorded();
      expect(events.filter(({ type }) => type === 'RaceStarted')).toHaveLength(refs.length);
      expect(findBreak(events)).toBeNull();
    });

    it('refuses what the table refuses, records nothing, and goes on', async () => {
      const { engine, ref, start, types } = await setUp();
      await expect(engine.ask(ref, [{ type: 'finish' }], by('early'))).rejects.toMatchObject({
        code: 'TURN_NOT_FOUND',
      });
      expect(await types()).toEqual([]);
      expect((await engine.ask(ref, [start], by('start'))).answer).toMatchObject({ name: 'measured' });
      await expect(engine.ask(ref, [{ type: 'refuse' }], by('refuse'))).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    it('acts on a deadline while nobody asks', async () => {
      const { engine, ref, startDue, soonMs, advance, until, effects } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      await engine.ask(ref, [startDue(soonMs)], by('start'));
      await advance(0.6 * soonMs);
      expect((await engine.ask(ref, [], by('look'))).answer).toMatchObject({ name: 'measured' });
      await advance(0.5 * soonMs);
      await until('RaceGivenUp');
    });

    it('cancels a far effect when the state stops waiting for it', async () => {
      const { engine, ref, startDue, soonMs, advance, until, effects } = await setUp();
      let aborted = false;
      effects.deliver = (signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (aborted = true));
        });
      await engine.ask(ref, [startDue(soonMs)], by('start'));
      await advance(1.1 * soonMs);
      await until('RaceGivenUp');
      // The word may have some way to go.
      await vi.waitFor(() => expect(aborted).toBe(true), { timeout: 5_000 });
    });

    it('goes on after a restart in every state: same answers, no second event, effects taken up again', async () => {
      const { engine, ref, start, restart, until, effects, types } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      const first = await engine.ask(ref, [start], by('start'));
      effects.deliver = () => Promise.resolve('after the restart');
      const second = await restart();
      expect((await second.ask(ref, [start], by('start'))).answer).toEqual(first.answer);
      await until('RaceDelivered');
      const third = await restart();
      expect((await third.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      const fourth = await restart();
      expect((await fourth.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      expect(await types()).toEqual(['RaceStarted', 'RaceMeasured', 'RaceDelivered', 'RaceFinished']);
    });

    it('acts on a deadline that was missed while nothing ran', async () => {
      const { engine, ref, startDue, soonMs, advance, restart, until, effects, under } = await setUp();
      effects.deliver = () => new Promise(() => undefined);
      await engine.ask(ref, [startDue(soonMs)], by('start'));
      await engine[Symbol.asyncDispose]();
      await advance(2 * soonMs);
      await restart();
      await advance(1);
      await until('RaceGivenUp');
      expect(under.nowMs()).toBeGreaterThan(0);
    });

    it.each(['before', 'after'] as const)(
      'killed %s the append: the repeat makes the same events as an unbroken run',
      async (at) => {
        const { engine, ref, start, restart, until, fault, types, recorded } = await setUp();
        fault.at = at;
        await expect(engine.ask(ref, [start], by('start'))).rejects.toThrow();
        fault.at = 'none';
        const next = await restart();
        expect((await next.ask(ref, [start], by('start'))).answer).toEqual({ name: 'measured', measure: 42 });
        await until('RaceDelivered');
        expect(await types()).toEqual(['RaceStarted', 'RaceMeasured', 'RaceDelivered']);
        expect(findBreak(await recorded())).toBeNull();
      },
    );

    it('tries a failed far effect again', async () => {
      const { engine, ref, start, until, effects, advance, soonMs } = await setUp();
      let failures = 0;
      effects.deliver = () =>
        failures++ === 0 ? Promise.reject(new Error('the road is closed')) : Promise.resolve('second try');
      await engine.ask(ref, [start], by('start'));
      await vi.waitFor(() => expect(failures).toBe(1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await advance(soonMs);
      await until('RaceDelivered');
      expect(failures).toBe(2);
    });

    it('shares a stream: foreign events in between change neither events nor answers', async () => {
      const { engine, ref, start, store, recorded, until } = await setUp();
      await engine.ask(ref, [start], by('start'));
      await until('RaceDelivered');
      const { events, lastRevision } = await store.read(stream, { direction: 'backwards', limit: 1 });
      const head = events[0];
      if (head === undefined) throw new Error('the stream is empty');
      const meta = { ...head.meta, commandId: 'foreign', prevHash: head.meta.hash };
      delete (meta as { process?: unknown }).process;
      await store.append(stream, lastRevision, [
        { id: '018f0000-0000-8000-8000-00000000f0e1', type: 'Foreign', data: {}, meta },
      ]);
      expect((await engine.ask(ref, [{ type: 'finish' }], by('finish'))).answer).toMatchObject({ name: 'finished' });
      expect((await recorded()).map(({ type }) => type)).toEqual([
        'RaceStarted',
        'RaceMeasured',
        'RaceDelivered',
        'Foreign',
        'RaceFinished',
      ]);
    });
  });
};
