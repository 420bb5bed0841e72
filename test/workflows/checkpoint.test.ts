import { describe, expect, it } from 'vitest';

import { leafHash } from '../../src/features/proofs/domain/leaf.js';
import { emptyLog, evolveLog, type LogState } from '../../src/features/proofs/domain/state.js';
import { logEvents } from '../../src/features/proofs/domain/events.js';
import { loggedKinds } from '../../src/features/proofs/domain/logged-streams.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { transitionOf, pendingEffect } from '../../src/kernel/processes/state-machine.js';
import { checkpoint, type CheckpointInput, type CheckpointState } from '../../workflows/checkpoint.js';

const ROUND = 'k0_mwtfsnrn_-4l3PEVDVHflYJJl';
const leaf = { stream: 'npc-local.a', revision: 3, hash: 'a'.repeat(64), at: '2026-11-25T00:00:00.000Z' };
const request: CheckpointInput = { type: 'request', roundId: ROUND, news: 5, until: 9 };
const gathered = { type: 'gathered', leaves: [leaf], through: 9 } as const;
const signed: CheckpointInput = {
  ...{ type: 'signed', origin: 'o', root: 'r', at: 't', kid: 'k', note: 'n', handsOn: true },
  size: 1,
};
const handedOn: CheckpointInput = { type: 'handedOn', upTo: 1, failed: null };

/** Applies inputs one after the other; the log and the round see each event. */
const play = (...inputs: readonly CheckpointInput[]) => playOn(emptyLog, ...inputs);
const playOn = (before: LogState, ...inputs: readonly CheckpointInput[]) => {
  let [state, log, revision]: [CheckpointState, LogState, number] = [{ name: 'new' }, before, 0];
  const types: string[] = [];
  for (const input of inputs) {
    const transition = transitionOf(checkpoint, state, input);
    if (transition === 'ignore' || 'reject' in transition) continue;
    for (const event of transition.emit(state, input, { log })) {
      const stored = { ...event, revision, meta: { at: '', commandId: 'c', schemaVersion: 1 } };
      state = checkpoint.evolve(state, stored);
      log = evolveLog(log, logEvents.decode(stored), revision);
      types.push(event.type);
      revision += 1;
    }
  }
  return { state, log, types };
};

describe('a round of the checkpoint log', () => {
  it('gathers, signs, publishes, and ends', () => {
    const { state, log, types } = play(request, gathered, signed, handedOn);
    expect(types).toEqual(['CheckpointBegun', 'LeavesLogged', 'CheckpointSigned', 'CheckpointsHandedOn']);
    expect(state).toMatchObject({ name: 'over', size: 1, leaves: 1 });
    expect(checkpoint.over(state)).toBe(true);
    const hash = Buffer.from(leafHash(leaf)).toString('hex');
    expect(log).toMatchObject({ size: 1, through: 9, round: null, handedOn: 1, edge: [{ hash, at: 1 }] });
  });

  it('ends with its signature if checkpoints have no receiver', () => {
    const { state, log } = play(request, gathered, { ...signed, handsOn: false });
    expect([state.name, log.round]).toEqual(['over', null]);
  });

  it('gathers in batches until it has read everything', () => {
    const some = play(request, { ...gathered, through: 7 });
    expect(some.state.name).toBe('gathering');
    expect(pendingEffect(checkpoint, some.state)).toEqual({
      ...{ id: 'gather-7', name: 'gathering' },
      args: { begun: 4, through: 7, until: 9, kinds: loggedKinds, behind: [], caughtUp: 4 },
    });
    const all = play(request, { ...gathered, through: 7 }, { ...gathered, leaves: [] });
    expect([all.state.name, all.log.size]).toEqual(['signing', 1]);
  });

  it('first gathers the kinds of streams that the log did not hold before [10.5w]', () => {
    const earlier: LogState = { ...emptyLog, size: 0, through: 8, kinds: ['npc'] };
    const begin: CheckpointInput = { ...request, news: 9, until: 12 };
    const begun = playOn(earlier, begin);
    const behind = loggedKinds.filter((kind) => kind !== 'npc');
    expect(begun.state).toMatchObject({ name: 'gathering', begun: 8, behind, caughtUp: 0 });
    const part = { ...gathered, through: 8, kinds: loggedKinds } as const;
    const some = playOn(earlier, begin, { ...part, caughtUp: 5 });
    expect(pendingEffect(checkpoint, some.state)).toMatchObject({
      id: 'gather-8-5',
      args: { through: 8, caughtUp: 5 },
    });
    const all = playOn(earlier, begin, { ...part, caughtUp: 5 }, { ...part, caughtUp: 8 });
    expect(all.state.name).toBe('gathering');
    const done = playOn(earlier, begin, { ...part, caughtUp: 8 }, { ...part, through: 12 }, signed);
    expect([done.log.kinds, done.log.through, done.state.name]).toEqual([loggedKinds, 12, 'signing']);
  });

  it('gathers them again after a server that knows only minds has logged some [10.5w]', () => {
    const { log } = play(request, gathered);
    expect(log.kinds).toEqual(['npc']);
    expect(playOn({ ...log, round: null }, { ...request, news: 10, until: 10 }).state).toMatchObject({ caughtUp: 0 });
  });

  it('accepts an input once, and none for another position of the log', () => {
    expect(play(request, request, gathered, gathered, signed, signed, handedOn, handedOn).types).toHaveLength(4);
    expect(play(request, { ...gathered, through: 4 }).types).toEqual(['CheckpointBegun']);
    expect(play(request, gathered, { ...signed, size: 2 }).types).toEqual(['CheckpointBegun', 'LeavesLogged']);
    expect(play(gathered, signed, handedOn).types).toEqual([]);
  });

  it('begins neither beside another round nor for entries that the log already holds', () => {
    const transition = transitionOf(checkpoint, { name: 'new' }, request);
    if (typeof transition === 'string' || 'reject' in transition) throw new Error('a round cannot begin');
    for (const log of [
      { ...emptyLog, round: 'another' },
      { ...emptyLog, through: 5 },
    ])
      expect(() => transition.emit({ name: 'new' }, request, { log })).toThrow(Rejection);
  });
});
