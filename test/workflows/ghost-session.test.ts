import { describe, expect, it } from 'vitest';

import { ghostSession, type GhostInput, type GhostState } from '../../workflows/ghost-session.js';
import { pendingEffect, statusOf } from '../../src/kernel/processes/state-machine.js';
import { testTransitions } from '../support/test-transitions.js';
import { givenOf, inTable } from '../support/given.js';

const plan = {
  goal: 'find_bugs',
  suite: null,
  level: { levelId: 'cellar', version: null, digest: 'the digest', generated: false },
  seed: 7,
  steps: 500,
  timeoutMs: 60_000,
  deadlineAt: '2026-01-01T00:01:00.000Z',
} as const;
const report = { step: 12, findings: [], tests: [], metrics: [], coverage: 0.5 } as const;
const inputs = {
  request: { type: 'request', sessionId: 'g0_0_aaaaaaaaaaaaaaaa', ...plan },
  begun: { type: 'begun' },
  played: { type: 'played', step: 12, over: false },
  broken: { type: 'broken', reason: 'the level is lost' },
  stop: { type: 'stop' },
  reported: { type: 'reported', ...report },
  deadline: { type: 'deadline' },
} as const satisfies Record<GhostInput['type'], GhostInput>;

const given = givenOf(ghostSession);
type Session = ReturnType<typeof given>;
const take = (before: Session, input: GhostInput) => before.when(inTable(ghostSession), input, null);
const fresh = given();
const after = (...types: (keyof typeof inputs)[]): Session =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const sessions = {
  new: fresh,
  pending: after('request'),
  running: after('request', 'begun'),
  ending: after('request', 'begun', 'stop'),
  over: after('request', 'begun', 'stop', 'reported'),
} satisfies Record<GhostState['name'], Session>;

const nothing = (name: string): Record<GhostInput['type'], string> => ({
  ...{ request: name, begun: name, played: name, broken: name, stop: name, reported: name, deadline: name },
});
const ends = { broken: 'ending GhostEnded', stop: 'ending GhostEnded', deadline: 'ending GhostEnded' };

/** The effect of every input in every state: the next state and the events, or a refusal. */
const expected: Record<keyof typeof sessions, Record<GhostInput['type'], string>> = {
  new: { ...nothing('new'), request: 'pending GhostRequested', stop: 'new refused' },
  pending: { ...nothing('pending'), ...ends, begun: 'running GhostBegun' },
  running: { ...nothing('running'), ...ends, played: 'running GhostPlayed' },
  ending: { ...nothing('ending'), reported: 'over GhostReported' },
  over: nothing('over'),
};
describe('the state machine of a ghost session', () => {
  it('keeps the engine that plays, and passes it to its effects', () => {
    const argsOf = (session: Session): unknown => pendingEffect(ghostSession, session.state)?.args;
    expect(argsOf(sessions.pending)).not.toHaveProperty('engine');
    const asked = take(fresh, { ...inputs.request, engine: 'openai' }).and;
    expect(argsOf(asked)).toMatchObject({ engine: 'openai' });
    expect(argsOf(take(asked, inputs.begun).and)).toMatchObject({ engine: 'openai' });
  });

  testTransitions({
    process: ghostSession,
    states: sessions,
    inputs,
    expected,
    more: [['running', { type: 'played', step: 500, over: true }]],
  });

  it('ends when there is nothing more to play, and records how [9.8c, 9.8f]', () => {
    const played = take(sessions.running, { type: 'played', step: 500, over: true }).and;
    expect(played.state).toMatchObject({
      name: 'ending',
      ending: 'completed',
      timedOut: false,
      reason: null,
      step: 500,
    });
    expect(take(sessions.running, inputs.deadline).and.state).toMatchObject({ ending: 'completed', timedOut: true });
    expect(take(sessions.pending, inputs.broken).and.state).toMatchObject({
      ...{ ending: 'failed', timedOut: false, reason: 'the level is lost' },
    });
    expect(sessions.ending.state).toMatchObject({ ending: 'stopped' });
  });

  it('waits for another effect in each slice, and for its timeout while it plays [9.8c]', () => {
    const effects = [sessions.pending, sessions.running, take(sessions.running, inputs.played).and, sessions.ending];
    const statuses = effects.map(({ state }) => statusOf(ghostSession, state));
    expect(statuses.map((status) => status.effect?.id)).toEqual(['begin', 'play-0', 'play-1', 'report']);
    expect(statuses.map(({ due }) => due)).toEqual([plan.deadlineAt, plan.deadlineAt, plan.deadlineAt, null]);
    const { goal, level, seed, steps } = plan;
    expect(pendingEffect(ghostSession, sessions.running.state)?.args).toEqual({ goal, level, seed, steps });
    expect(statusOf(ghostSession, sessions.over.state)).toMatchObject({ effect: null, due: null });
  });

  it('waits only for its timeout when an external body plays it', () => {
    const asked = take(fresh, { ...inputs.request, driver: 'remote' });
    asked.then([
      { type: 'GhostRequested', data: { ...plan, sessionId: inputs.request.sessionId, driver: 'remote' } },
      { type: 'GhostBegun', data: { sessionId: inputs.request.sessionId } },
    ]);
    expect(statusOf(ghostSession, asked.and.state)).toEqual({ state: 'running', effect: null, due: plan.deadlineAt });
    const ended = take(asked.and, { type: 'played', step: 3, over: true }).and;
    expect(pendingEffect(ghostSession, ended.state)).toMatchObject({ name: 'report', args: { driver: 'remote' } });
  });
});
