import { describe, expect, it } from 'vitest';

import { createScriptedEngine } from '../../../src/adapters/cortex/scripted/engine.js';
import { TEST_CALL_MS, testEngine } from '../../../src/features/agents/test-engine.js';
import { hasPassed } from '../../../src/features/agents/engine-checks.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { Completion } from '../../../src/ports/cortex.js';
import { fakeCortex } from '../../support/fake-cortex.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const WAIT_MS = 12_000;
const resultsOf = (checks: readonly { check: string; result: string }[]) =>
  checks.map(({ check, result }) => `${check} ${result}`);
const sayWell = ({ prompt, jsonSchema }: Completion): Promise<string> => {
  if (jsonSchema !== undefined) return Promise.resolve('{"dialogue": "Welcome.", "form": "schema"}');
  return Promise.resolve(
    prompt.includes('Are you there?') ? 'Yes.' : '{"dialogue": "Three coins.", "action": {"type": "SPEAK"}}',
  );
};

describe('testing an engine', () => {
  it('asks for a word, an object and a turn, with the numbers of its operator, and no more [6.10b, 6.10d]', async () => {
    const { engine, asked } = fakeCortex(sayWell);
    const inTurns = { maxTokens: 4_000 };
    const deps = { clock: new ManualClock(), agentWaitMs: WAIT_MS };
    const checks = await testEngine(deps, { ...engine, inTurns });
    expect(resultsOf(checks)).toEqual([
      'reachable passed',
      'schema passed',
      'reasoning passed',
      'context notJudged',
      'speed passed',
      'turn passed',
    ]);
    expect(hasPassed(checks)).toBe(true);
    expect(asked).toHaveLength(3);
    expect(asked).toMatchObject([inTurns, inTurns, inTurns]);
    expect(asked[2]?.prompt).toContain('What does a room cost?');
  });

  it('sends the turn as the messages of a conversation, as turns of agents do [6.10b, 13.4f]', async () => {
    const { engine, asked } = fakeCortex(sayWell);
    const deps = { clock: new ManualClock(), agentWaitMs: WAIT_MS };
    await testEngine(deps, engine);
    const { messages = [] } = asked[2] ?? {};
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages.at(-1)?.content).toContain('What does a room cost?');

    const noConversations = fakeCortex((request) =>
      (request.messages ?? []).length > 2
        ? Promise.reject(new Rejection('CORTEX_NO_ANSWER', { details: { reason: 'HTTP 400.' } }))
        : sayWell(request),
    );
    expect(resultsOf(await testEngine(deps, noConversations.engine))).toContain('turn failed');
  });

  it('passes the scripted engine, without the schema that it does not read', async () => {
    const deps = { clock: new ManualClock(), agentWaitMs: WAIT_MS };
    const checks = await testEngine(deps, createScriptedEngine());
    expect(resultsOf(checks)).toContain('schema notJudged');
    expect(checks.at(-1)).toMatchObject({ result: 'passed' });
    expect(hasPassed(checks)).toBe(true);
  });

  it('does not call an engine again that is down, and judges nothing else [6.10c]', async () => {
    const down = new Rejection('CORTEX_UNAVAILABLE', { details: { reason: 'It is unreachable.' }, retryAfter: 1 });
    const { engine, asked } = fakeCortex(() => Promise.reject(down));
    const checks = await testEngine({ clock: new ManualClock(), agentWaitMs: WAIT_MS }, engine);
    expect(checks[0]).toEqual({ check: 'reachable', result: 'failed', message: 'It is unreachable.' });
    expect(new Set(checks.slice(1).map(({ result }) => result))).toEqual(new Set(['notJudged']));
    expect(asked).toHaveLength(1);
  });

  it('judges the other calls of an engine that gives no text to one [6.10c]', async () => {
    const mute = new Rejection('CORTEX_NO_ANSWER', { details: { reason: 'HTTP 400, overloaded.' } });
    const { engine } = fakeCortex((asked) => (asked.jsonSchema === undefined ? sayWell(asked) : Promise.reject(mute)));
    const checks = await testEngine({ clock: new ManualClock(), agentWaitMs: WAIT_MS }, engine);
    expect(resultsOf(checks)).toEqual(expect.arrayContaining(['schema notJudged', 'turn passed']));
  });

  it('ends after a minute, whatever the engine does [6.10d]', async () => {
    const clock = new ManualClock();
    const { engine, asked } = fakeCortex((request) =>
      request.prompt.includes('Are you there?') ? Promise.resolve('Yes.') : new Promise(() => undefined),
    );
    const contextTokens = () => new Promise<never>(() => undefined);
    const tested = testEngine({ clock, agentWaitMs: WAIT_MS }, { ...engine, contextTokens });
    await settle(20);
    await clock.advance(TEST_CALL_MS);
    await settle(20);
    expect(asked).toHaveLength(3);
    await clock.advance(TEST_CALL_MS);
    await settle(20);
    await clock.advance(0);
    const checks = await tested;
    expect(resultsOf(checks)).toEqual([
      'reachable passed',
      'schema notJudged',
      'reasoning passed',
      'context notJudged',
      'speed notJudged',
      'turn failed',
    ]);
    expect(checks.at(-1)?.message).toContain('within 30 s');
  });

  it('ends with its caller', async () => {
    const caller = new AbortController();
    const { engine } = fakeCortex(() => new Promise(() => undefined));
    const tested = testEngine({ clock: new ManualClock(), agentWaitMs: WAIT_MS }, engine, caller.signal);
    const reason = new Error('gone');
    caller.abort(reason);
    await expect(tested).rejects.toBe(reason);
  });
});
