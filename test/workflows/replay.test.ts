import { describe, expect, it } from 'vitest';

import { noFindings } from '../../src/features/replays/domain/findings.js';
import { pendingEffect, statusOf } from '../../src/kernel/processes/state-machine.js';
import { replay, type ReplayInput, type ReplayState } from '../../workflows/replay.js';
import { givenOf, inTable } from '../support/given.js';
import { testTransitions } from '../support/test-transitions.js';

const plan = { npcIds: null, upTo: 90, since: '2026-01-01T00:00:00.000Z' };
const found = { ...noFindings, decisions: 4, turns: { equal: 1, different: 0 } };
const half = { cursor: { after: 'mira', begun: [{ npcId: 'mira', next: 40 }] }, events: 40, found };
const inputs = {
  request: { type: 'request', replayId: 'r0_0_aaaaaaaaaaaaaaaa', ...plan },
  begun: { type: 'begun', minds: 2, events: 80, unknown: [] },
  advanced: { type: 'advanced', ...half, over: false },
  broken: { type: 'broken', reason: 'the rules are lost' },
  cancel: { type: 'cancel' },
} as const satisfies Record<ReplayInput['type'], ReplayInput>;

const given = givenOf(replay);
type Replay = ReturnType<typeof given>;
const take = (before: Replay, input: ReplayInput) => before.when(inTable(replay), input, null);
const fresh = given();
const after = (...types: (keyof typeof inputs)[]): Replay =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const replays = {
  new: fresh,
  pending: after('request'),
  running: after('request', 'begun'),
  over: after('request', 'begun', 'cancel'),
} satisfies Record<ReplayState['name'], Replay>;

const nothing = (name: string): Record<ReplayInput['type'], string> => ({
  ...{ request: name, begun: name, advanced: name, broken: name, cancel: name },
});
const ends = { broken: 'over ReplayEnded', cancel: 'over ReplayEnded' };
const expected: Record<keyof typeof replays, Record<ReplayInput['type'], string>> = {
  new: { ...nothing('new'), request: 'pending ReplayRequested', cancel: 'new refused' },
  pending: { ...nothing('pending'), ...ends, begun: 'running ReplayBegun' },
  running: { ...nothing('running'), ...ends, advanced: 'running ReplayAdvanced' },
  over: nothing('over'),
};
const last: ReplayInput = { ...inputs.advanced, cursor: { after: 'mira', begun: [] }, over: true };

describe('the state machine of a replay', () => {
  testTransitions({ process: replay, states: replays, inputs, expected, more: [['running', last]] });

  it('adds up the findings of its slices, and ends with the last one', () => {
    const once = take(replays.running, inputs.advanced).and;
    expect(once.state).toMatchObject({ name: 'running', events: 40, cursor: half.cursor, found });
    const twice = take(once, last).and;
    expect(twice.state).toMatchObject({
      ...{ name: 'over', ending: 'completed', reason: null, events: 80, eventsInAll: 80 },
      found: { decisions: 8, turns: { equal: 2, different: 0 } },
    });
  });

  it('keeps its findings when it is cancelled or cannot continue [10.3h, 10.3i]', () => {
    const once = take(replays.running, inputs.advanced).and;
    expect(take(once, inputs.cancel).and.state).toMatchObject({ ending: 'cancelled', reason: null, found });
    expect(take(once, inputs.broken).and.state).toMatchObject({
      ending: 'failed',
      reason: 'the rules are lost',
      found,
    });
    expect(take(replays.pending, inputs.broken).and.state).toMatchObject({ ending: 'failed', found: noFindings });
  });

  it('waits for another effect in each slice, which continues from the last one', () => {
    const effects = [replays.pending, replays.running, take(replays.running, inputs.advanced).and].map(({ state }) =>
      pendingEffect(replay, state),
    );
    expect(effects.map((effect) => effect?.id)).toEqual(['begin', 'slice-0', 'slice-1']);
    expect(effects[2]?.args).toMatchObject({ ...plan, cursor: half.cursor, found });
    expect(statusOf(replay, replays.over.state)).toMatchObject({ effect: null, due: null });
  });

  it('names all rules of a trial, including those without effect [10.3n]', () => {
    const begun = take(replays.pending, { ...inputs.begun, drRuleIds: ['r1', 'r2'] }).and;
    const { found: known } = begun.state as Extract<ReplayState, { name: 'running' }>;
    expect(known.rules.map(({ drRuleId, fired }) => [drRuleId, fired])).toEqual([
      ['r1', 0],
      ['r2', 0],
    ]);
  });
});
