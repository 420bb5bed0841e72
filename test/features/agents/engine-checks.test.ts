import { describe, expect, it } from 'vitest';

import {
  type Called,
  hasPassed,
  judgeContext,
  judgeReachable,
  judgeReasoning,
  judgeSchema,
  judgeSpeed,
  judgeTurn,
} from '../../../src/features/agents/engine-checks.js';
import type { Verdict } from '../../../src/features/npcs/domain/events.js';

const text = (said: string, more: { reasoning?: string; ms?: number; tokens?: number } = {}): Called => ({
  completed: {
    text: said,
    ...(more.reasoning === undefined ? {} : { reasoning: more.reasoning }),
    stats: more.tokens === undefined ? {} : { completionTokens: more.tokens },
  },
  ms: more.ms ?? 100,
});
const none = (reason: string): Called => ({ reason, isDown: false });
const verdict = (over: Partial<Verdict>): Verdict => ({
  valid: true,
  dialogue: 'Three coins.',
  action: { type: 'SPEAK', target: '' },
  stateDelta: {},
  memoryStore: [],
  ...over,
});

describe('the checks of an engine', () => {
  it.each([
    [text('Yes.'), 'passed', /answers/],
    [none('HTTP 400, model not found.'), 'failed', /is up, and gave no text: HTTP 400, model not found/],
    [{ reason: 'It is unreachable.', isDown: true }, 'failed', /^It is unreachable\.$/],
  ] as const)('say whether it is reachable [6.10b]', (called, result, message) => {
    expect(judgeReachable(called)).toMatchObject({ result, message: expect.stringMatching(message) as string });
  });

  it.each([
    ['{"dialogue": "Welcome.", "form": "schema"}', 'passed', /obeys/],
    ['{"dialogue": "Welcome."}', 'passed', /does not obey a JSON schema\.$/],
    ['Sure!\n```json\n{"dialogue": "Welcome.", "form": "schema"}\n```', 'passed', /does not obey .* other text around/],
    ['{"legs": 8}', 'failed', /no readable JSON/],
    ['[8]', 'failed', /no readable JSON/],
    ['Welcome, stranger.', 'failed', /no readable JSON.*Welcome, stranger/],
  ])('say whether it obeys a schema: %s [6.10b]', (said, result, message) => {
    expect(judgeSchema(text(said))).toMatchObject({ result, message: expect.stringMatching(message) as string });
    expect(judgeSchema(none('It is mute.')).result).toBe('notJudged');
  });

  it.each([
    [[text('Yes.'), text('No.')], 'passed', /no reasoning/],
    [[text('Yes.', { reasoning: 'Hm.' })], 'passed', /NPCs do not say it/],
    [[text('Yes.'), text('<my_thinking>Hm.')], 'failed', /contains reasoning/],
    [[text('Yes.'), none('the model used up its tokens for reasoning.')], 'failed', /ANIMA_CORTEX_MAX_TOKENS/],
    [[none('It is mute.')], 'notJudged', /no text/],
  ] as const)('say whether its reasoning is kept apart [6.10b, 6.10c]', (calls, result, message) => {
    expect(judgeReasoning(calls)).toMatchObject({ result, message: expect.stringMatching(message) as string });
  });

  it('say how many tokens it takes, and how fast it is [6.10b, 6.10c]', () => {
    expect([4_096, 4_095, null].map((tokens) => judgeContext(tokens, false).result)).toEqual([
      'passed',
      'failed',
      'notJudged',
    ]);
    expect(judgeContext(900, true)).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(/only 900 tokens.*Longer ones are shortened to fit, so NPCs know less/) as string,
    });
    expect(judgeSpeed(text('Yes.', { ms: 2_000, tokens: 41 }), 2_000)).toEqual({
      check: 'speed',
      result: 'passed',
      message: 'The text of a turn took 2 s (20.5 tokens per second).',
      figures: { seconds: 2, tokens: 41, tokensPerSecond: 20.5 },
    });
    expect(judgeSpeed(text('Yes.', { ms: 2_001 }), 2_000)).toMatchObject({
      result: 'failed',
      message: expect.stringMatching(/wait only 2 s/) as string,
    });
    expect(judgeSpeed(none('It is mute.'), 2_000).result).toBe('notJudged');
  });

  it.each([
    [{ structured: true, verdict: verdict({}) }, 'passed', /"Three coins\."/],
    [{ structured: false, verdict: verdict({}) }, 'failed', /not the JSON object/],
    [{ structured: true, verdict: verdict({ dialogue: ' ' }) }, 'failed', /no words/],
    [{ structured: true, verdict: verdict({ valid: false, code: 'TARGET_MISSING' }) }, 'failed', /TARGET_MISSING/],
  ] as const)('say how a turn went [6.10b]', (judged, result, message) => {
    expect(judgeTurn({ called: text('…'), judged })).toMatchObject({
      result,
      message: expect.stringMatching(message) as string,
    });
    expect(judgeTurn({ called: none('It is mute.') })).toMatchObject({ result: 'failed' });
  });

  it('show little of a text [6.10e]', () => {
    const { message } = judgeTurn({
      called: text('…'),
      judged: { structured: true, verdict: verdict({ dialogue: 'x'.repeat(5_000) }) },
    });
    expect(message.length).toBeLessThan(260);
  });

  it('are passed if the turn passed and none failed [6.10c]', () => {
    const turn = judgeTurn({ called: text('…'), judged: { structured: true, verdict: verdict({}) } });
    expect(hasPassed([judgeContext(null, false), turn])).toBe(true);
    expect(hasPassed([judgeContext(1, false), turn])).toBe(false);
    expect(hasPassed([judgeContext(1, true), turn])).toBe(true);
    expect(hasPassed([judgeContext(null, false), { ...turn, result: 'notJudged' }])).toBe(false);
  });
});
