import { describe, expect, it } from 'vitest';

import {
  afterRemoteStep,
  beginRemotePlay,
  isRemotePlayed,
  type RemotePlay,
  type RemoteStep,
  remoteTally,
  remoteWorld,
} from '../../../../src/features/ghosts/domain/remote-play.js';
import { coverageOf } from '../../../../src/features/ghosts/domain/results.js';
import { readTold, type WorldReport } from '../../../../src/features/ghosts/domain/told-world.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import { generateLevel } from '../../../../src/features/levels/domain/generate.js';
import type { Json } from '../../../../src/kernel/base/json.js';

const level = generateLevel('a place', 3);
const allGoals = level.goals.map((_, position) => position);
const moved: RemoteStep['decided'] = { valid: true, code: null, action: 'MOVE', matched: [] };
const played = (...told: readonly WorldReport[]): RemotePlay =>
  told.reduce(
    (play, one, index) => afterRemoteStep(level, play, { told: one, decided: moved, through: index * 5 + 4 }),
    beginRemotePlay(level),
  );
const told = (ghost: Json): WorldReport => readTold(level, { ghost });

describe('the report of a body', () => {
  it('is read member by member [9.6j, 9.6k]', () => {
    const goal = level.goals[0]?.id ?? '';
    expect(told({ position: { x: -0, y: 1 }, outcome: { ok: true }, reached: [goal, goal], done: true })).toEqual({
      ...{ position: { x: 0, y: 1 }, outcome: { ok: true }, reached: [0], done: true },
    });
    expect(told({ position: { x: 0 }, outcome: { ok: false }, reached: 'all', done: 'yes' })).toEqual({
      outcome: { ok: false, code: 'REFUSED', reason: '' },
    });
    const code = 'Ab_9'.repeat(16);
    const codeOf = (one: string) => told({ outcome: { ok: false, code: one, reason: 'r'.repeat(301) } }).outcome;
    expect(codeOf(code)).toEqual({ ok: false, code, reason: `${'r'.repeat(299)}…` });
    for (const wrong of [`${code}x`, 'no-word', '']) expect(codeOf(wrong)).toMatchObject({ code: 'REFUSED' });
    for (const context of [null, 'x', [], { ghost: null }, { ghost: [1] }] as const)
      expect(readTold(level, context)).toEqual({});
  });

  it('describes the previous step', () => {
    const refused = { outcome: { ok: false, code: 'WALL', reason: 'A wall.' } } as const;
    const tally = remoteTally(level, played(refused, refused, { outcome: { ok: true } }, {}));
    // Nothing precedes the first step, and nothing has been reported about the last one yet.
    expect(tally).toMatchObject({ steps: 4, worldRefusals: { WALL: 1 }, done: { MOVE: 1 } });
    expect(tally.found).toMatchObject([
      { kind: 'mind_allowed_world_refused', subject: 'MOVE/WALL', fromStep: 1, toStep: 1, events: [0] },
    ]);
  });

  it('is ignored for an action that the mind refused', () => {
    const begun = beginRemotePlay(level);
    const held = afterRemoteStep(level, begun, {
      ...{ told: {}, through: 3 },
      decided: { valid: false, code: 'RULE_REFUSED', action: 'ATTACK', matched: [] },
    });
    const next = afterRemoteStep(level, held, {
      ...{ told: { outcome: { ok: false, code: 'WALL', reason: '' } }, decided: moved, through: 8 },
    });
    expect(remoteTally(level, next)).toMatchObject({
      ...{ worldRefusals: {}, mindRefusals: { RULE_REFUSED: 1 }, found: [] },
    });
  });

  it('counts a tile once, and only if it can be reached', () => {
    const wall = level.rows.flatMap((row, y) => [...row].flatMap((tile, x) => (tile === '#' ? [{ x, y }] : [])))[0];
    const play = played(
      { position: level.spawn },
      { position: level.spawn },
      wall === undefined ? {} : { position: wall },
    );
    expect(play.entered).toBe(1);
    expect(coverageOf(level, remoteWorld(level, play))).toBeGreaterThan(0);
  });

  it('proves that a goal can be reached, whatever the level looks like from here', () => {
    const walled: Level = { ...level, rows: level.rows.map((row) => row.replaceAll('.', '#')) };
    const begun = beginRemotePlay(walled);
    expect(begun.tally.goals).toContain('no');
    const play = afterRemoteStep(walled, begun, { told: { reached: allGoals }, decided: moved, through: 4 });
    expect(remoteTally(walled, play)).toMatchObject({
      goals: allGoals.map(() => 'yes'),
      goalsNow: allGoals.map(() => 'yes'),
    });
  });
});

describe('a session of a body', () => {
  const asked = { level, goal: 'find_bugs', steps: 10 } as const;

  it('continues until it is done, its budget is used up or, if that is its goal, all goals are reached [9.6l]', () => {
    expect(isRemotePlayed(asked, beginRemotePlay(level))).toBe(false);
    expect(isRemotePlayed({ ...asked, goal: 'complete_level' }, beginRemotePlay({ ...level, goals: [] }))).toBe(false);
    expect(isRemotePlayed(asked, played({ reached: allGoals }))).toBe(false);
    expect(isRemotePlayed({ ...asked, goal: 'complete_level' }, played({ reached: allGoals }, {}))).toBe(true);
    expect(isRemotePlayed(asked, played({ done: true }))).toBe(true);
    expect(isRemotePlayed({ ...asked, steps: 2 }, played({}, {}))).toBe(true);
  });
});
