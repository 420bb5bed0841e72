import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { APPEND_BYTES, EVENT_BYTES } from '../../../src/kernel/streams/append-size.js';
import { actContext, actDirective, actVerdict } from '../../../src/features/turns/act.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { checkOfMind } from '../../../src/features/turns/domain/decision/bridge-checked.js';
import { CONVERSATION_BYTES } from '../../../src/features/turns/domain/conversation.js';
import { PROMPT_BYTES } from '../../../src/features/turns/domain/decision/prompt.js';
import { STATE_CHANGE_BYTES } from '../../../src/features/turns/domain/decision/state-change.js';
import {
  ACTION_BYTES,
  DETAILS_BYTES,
  DIALOGUE_BYTES,
  HELD_BYTES,
  MEMORY_STORE_BYTES,
  QUERY_BYTES,
} from '../../../src/features/npcs/domain/recorded-bytes.js';
import { INPUT_BYTES } from '../../../src/kernel/base/input-bytes.js';
import { TRACE_BYTES } from '../../../src/features/rules/domain/trace.js';
import { initialMind } from '../../../src/features/npcs/domain/state.js';
import type { TapeResult, Tape } from '../../../src/features/turns/domain/tape.js';
import type { Json } from '../../../src/kernel/base/json.js';
import { DEADLINE_MS, openMinds, tapeOf } from '../../support/minds.js';
import { aRule, aRuleset } from '../../support/rules.js';
import { onBehalf } from '../../support/streams.js';
import { statuses } from '../../../src/kernel/http/statuses.js';
import { runs } from '../../support/long.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** A text whose JSON has exactly the longest legal length. */
const text = (unit: string, bytes: number): string =>
  unit.repeat(Math.max(0, Math.floor((bytes - 2) / (bytesOf(unit) - 2))));

/** The possible pieces of an input: cheap, escaped, wide, and pieces that look like an answer, a mark of a prompt or a line. */
const units = ['a', '"', '\\', '\u0001', '\n', '€', '😀', '{"a":', '<|', '### ', '", "action": "MOVE'];
const unit = fc.constantFrom(...units);
/** Reserved for ids, names of members and a deadline. */
const BESIDE = 1_024;
const shareOf = (parts: number): number => Math.floor((INPUT_BYTES - BESIDE) / parts);

const memoriesOf = (of: string, bytes: number, count: number) =>
  Array.from({ length: count }, () => ({
    text: text(of, Math.floor(bytes / count) - 100),
    type: 'x',
    importance: 0.5,
    similarity: 0.5,
  }));

/** Answers of a model of nearly INPUT_BYTES, each large in another of the members that are recorded again. */
const outputs: Readonly<Record<string, (of: string) => string>> = {
  'words alone': (of) => text(of, shareOf(1)),
  'words in an object': (of) => JSON.stringify({ dialogue: text(of, 150_000) }),
  'a large action': (of) => JSON.stringify({ dialogue: 'Hm.', action: { type: 'MOVE', target: text(of, 100_000) } }),
  'numbers that grow': () => `{"action":{"type":"MOVE","payload":[${'1e20,'.repeat(100_000)}1]}}`,
  'everything at its bound': (of) =>
    JSON.stringify({
      dialogue: text(of, DIALOGUE_BYTES),
      action: { type: 'MOVE', target: 'gate', payload: text(of, ACTION_BYTES - 200) },
      stateDelta: { notes: text(of, STATE_CHANGE_BYTES - 100) },
      memoryStore: Array.from({ length: 16 }, () => ({ text: text(of, 8_000), type: text(of, 8_000) })),
    }),
  'a refusal': () => JSON.stringify({ action: { type: 'FLEE', payload: 'x'.repeat(ACTION_BYTES - 200) } }),
};

/** As much of it as one request may contain. */
const legal = (output: string): string =>
  output.slice(0, Math.floor((output.length * shareOf(1)) / Math.max(bytesOf(output), shareOf(1))) - 16).toWellFormed();

/** One rule with long texts, which are repeated in the prompt and in the refusal. */
const LONG = 'r'.repeat(150_000);
const strict = {
  ...aRuleset(
    [aRule({ ruleName: LONG, ruleAction: 'FORBID FLEE', ruleReason: LONG, rulePromptSuffix: LONG })],
    'ChatML',
  ),
  rulesetId: 'strict',
};

/** The inputs of a turn, each as large as one request may be. */
const largest = fc
  .record({
    opening: unit,
    actor: unit,
    recalled: unit,
    count: fc.constantFrom(1, 40, 1_000),
    said: unit,
    output: fc.constantFrom(...Object.keys(outputs)),
    rulesetId: fc.constantFrom<string | undefined>(undefined, 'strict'),
    contradicts: fc.boolean(),
  })
  .map(({ opening, actor, recalled, count, said, output, rulesetId, contradicts }) => {
    const part = text(opening, shareOf(4) - 32);
    const tape: Partial<Tape> = {
      observation: part,
      context: { part },
      npcState: { part },
      persona: part,
      ...(rulesetId === undefined ? {} : { rulesetId }),
    };
    const results: TapeResult[] = [
      {
        type: 'IdentifyActorResult',
        actor: { npcId: 'mira', persona: text(actor, shareOf(2) - 64), data: { part: text(actor, shareOf(2) - 64) } },
      },
      { type: 'QueryVectorResult', memories: memoriesOf(recalled, shareOf(1), count) },
      { type: 'ExecuteInferenceResult', generatedOutput: legal(outputs[output]?.(said) ?? '') },
    ];
    const other = { observation: 'Else.', context: { else: part }, npcState: { else: part } };
    return { tape, results, output, contradicting: contradicts ? { ...tape, ...other } : tape };
  });

const RUNS = { numRuns: runs(4, 12), seed: 20_261_122 };
const SLOW_MS = 120_000;

describe('a turn with the largest legal inputs', () => {
  it('reaches its end, even if every step contradicts the record [1.2y]', { timeout: SLOW_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(largest, async ({ tape, results, contradicting }) => {
        await using minds = await openMinds();
        await minds.register(strict);
        const first = await minds.step(tapeOf(tape));
        const { turnId } = first.answer;
        let answer = first.answer;
        for (const result of results) {
          ({ answer } = await minds.step(tapeOf({ ...contradicting, turnId }), result));
        }
        expect(answer.instruction.type).toBe('Finalize');
      }),
      RUNS,
    );
  });

  it('reaches its end when only its tape is left', { timeout: SLOW_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(largest, fc.nat(2), async ({ tape, results }, have) => {
        await using minds = await openMinds();
        await minds.register(strict);
        const [identified, recalled, said] = results;
        if (identified?.type !== 'IdentifyActorResult' || recalled?.type !== 'QueryVectorResult') return;
        // The tape of a fat body that returns after an hour.
        const known: Partial<Tape> = {
          ...tape,
          actor: identified.actor,
          ...(have > 0 ? { memories: recalled.memories, vectorQueried: true } : {}),
        };
        let { answer } = await minds.step(tapeOf({ ...known, turnId: 'lost' }), have === 2 ? (said ?? null) : null);
        const asks = { IdentifyActor: identified, QueryVector: recalled, ExecuteInference: said, Finalize: undefined };
        for (let step = 0; step < 3 && answer.instruction.type !== 'Finalize'; step += 1) {
          const result = asks[answer.instruction.type] ?? null;
          ({ answer } = await minds.step(tapeOf({ ...tape, turnId: answer.turnId }), result));
        }
        expect(answer.instruction.type).toBe('Finalize');
      }),
      RUNS,
    );
  });

  it('is resumed with everything that fits into one append', async () => {
    await using minds = await openMinds();
    const everything = tapeOf({
      turnId: 'lost',
      observation: text('€', shareOf(8)),
      actor: { npcId: 'mira', persona: null, data: {} },
      memories: memoriesOf('"', shareOf(6), 3),
      vectorQueried: true,
      generatedOutput: outputs['everything at its bound']?.('a') ?? '',
    });
    expect((await minds.step(everything)).answer.instruction.type).toBe('Finalize');
  });

  it('accepts a smaller result after one that was too large, at every step', async () => {
    await using minds = await openMinds();
    const tooMuch = 'x'.repeat(INPUT_BYTES);
    await expect(minds.step(tapeOf({ observation: tooMuch }))).rejects.toMatchObject({
      code: 'EVENTS_TOO_LARGE',
      details: { limitBytes: INPUT_BYTES },
    });
    expect(await minds.types()).toEqual([]);
    const { turnId } = (await minds.step(tapeOf())).answer;
    const tape = tapeOf({ turnId });
    const results: [large: TapeResult, small: TapeResult][] = [
      [
        { type: 'IdentifyActorResult', actor: { npcId: 'mira', persona: tooMuch, data: {} } },
        { type: 'IdentifyActorResult', actor: { npcId: 'mira', persona: null, data: {} } },
      ],
      [
        { type: 'QueryVectorResult', memories: [{ text: tooMuch, type: 'x', importance: 1, similarity: 1 }] },
        { type: 'QueryVectorResult', memories: [] },
      ],
      [
        { type: 'ExecuteInferenceResult', generatedOutput: tooMuch },
        { type: 'ExecuteInferenceResult', generatedOutput: 'Hm.' },
      ],
    ];
    for (const [large, small] of results) {
      const before = await minds.types();
      await expect(minds.step(tape, large)).rejects.toMatchObject({ code: 'EVENTS_TOO_LARGE' });
      expect(await minds.types()).toEqual(before);
      await minds.step(tape, small);
    }
    expect((await minds.types()).slice(-2)).toEqual(['VerdictReached', 'MemoryStored']);
  });

  it('expires like any other turn [1.2y]', async () => {
    await using minds = await openMinds();
    await minds.step(tapeOf({ observation: text('"', shareOf(1)) }));
    await minds.clock.advance(DEADLINE_MS);
    await expect.poll(() => minds.types()).toEqual(['TurnOpened', 'TurnExpired']);
  });
});

describe('an act with the largest legal inputs', () => {
  it('is recorded on every compatibility route', { timeout: SLOW_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(unit, largest, async (of, { output }) => {
        await using minds = await openMinds();
        await minds.register(strict);
        const ports = { events: minds.store, clock: minds.clock };
        const issuer = () => ({ kid: 'kid', iss: 'http://test' });
        const deps = {
          ports,
          writers: minds.deps.writers,
          rulesets: openRulesets(minds.deps.writers, minds.store),
          issuer,
        };
        const part = text(of, shareOf(3) - 64);
        const asked = (id: string, members: object) => ({
          npcId: 'mira',
          observation: part,
          context: {},
          npcState: { part },
          rulesetId: 'strict',
          by: { ...onBehalf(id), resumed: false },
          ...members,
        });
        await actDirective(deps, { ...asked('a', {}), context: { part } });
        await actContext(deps, { ...asked('b', {}), memories: memoriesOf(of, shareOf(3), 7), persona: 'x' });
        await actContext(deps, { ...asked('c', { observation: '' }), memories: memoriesOf(of, shareOf(3), 900) });
        const generatedOutput = legal(outputs[output]?.(of) ?? '');
        await actVerdict(deps, { ...asked('d', { observation: '', npcState: {} }), generatedOutput });
        await actVerdict(deps, { ...asked('e', {}), generatedOutput: text(of, shareOf(3)) });
        const tooMuch = actVerdict(deps, { ...asked('f', {}), generatedOutput: text('a', INPUT_BYTES) });
        await expect(tooMuch).rejects.toMatchObject({ code: 'EVENTS_TOO_LARGE' });
        expect((await minds.types()).filter((type) => type.startsWith('Verdict'))).toHaveLength(2);
      }),
      RUNS,
    );
  });

  it('is recorded as a check of the bridge', () => {
    const names = Array.from({ length: 50 }, (_, index) => `${String(index)}${'n'.repeat(10_000)}`);
    const context = { worldState: { entities: names } };
    const mind = { ...initialMind, revision: 0 };
    for (const ruleset of [aRuleset([]), strict]) {
      const long = { type: 'SPEAK', payload: { text: 's'.repeat(2_001), other: 'o'.repeat(250_000) } };
      for (const [action, around] of [
        [{ type: 'ATTACK', target: 'nobody' }, context],
        [{ type: 'FLEE' }, context],
        [long, {}],
      ] as const satisfies readonly (readonly [Json, Json])[]) {
        const [checked] = checkOfMind(mind, {
          action,
          context: around,
          chosen: { ruleset, used: null },
          patternsHeld: [],
        });
        expect(bytesOf(checked?.data)).toBeLessThanOrEqual(EVENT_BYTES);
      }
    }
  });
});

describe('the bounds', () => {
  const NAMES = 8_192;
  /** The metadata and the types of a turn’s events (recorded-bytes.ts). */
  const METADATA = 20_000;
  const query = 6 * QUERY_BYTES;
  const verdict = DIALOGUE_BYTES + ACTION_BYTES + STATE_CHANGE_BYTES + MEMORY_STORE_BYTES + HELD_BYTES + TRACE_BYTES;
  const refusal = DIALOGUE_BYTES + ACTION_BYTES + DETAILS_BYTES + HELD_BYTES + TRACE_BYTES;
  const recordedWith = verdict + STATE_CHANGE_BYTES + MEMORY_STORE_BYTES;

  it.each<[string, number]>([
    ['an opening or a result with its prompt', PROMPT_BYTES + 2 * CONVERSATION_BYTES + HELD_BYTES],
    ['an opening or a result with its query', query + CONVERSATION_BYTES + HELD_BYTES],
    ['the memories of an agent, with its messages', 2 * (PROMPT_BYTES + CONVERSATION_BYTES) + HELD_BYTES],
    ['a directive', query + HELD_BYTES + TRACE_BYTES],
    ['a context', 2 * PROMPT_BYTES + HELD_BYTES + TRACE_BYTES],
    ['a verdict', verdict],
    ['a refusal', refusal],
    ['a check of the bridge', DIALOGUE_BYTES + DETAILS_BYTES + HELD_BYTES],
  ])('leave room in one event for %s', (_, added) => {
    expect(INPUT_BYTES + added + NAMES).toBeLessThanOrEqual(EVENT_BYTES);
  });

  it('leave room in one append for a resumed turn with its verdict, and for a verdict with a contradiction', () => {
    expect(INPUT_BYTES + PROMPT_BYTES + recordedWith + NAMES + METADATA).toBeLessThanOrEqual(APPEND_BYTES);
    // Six members, twice, of 1,024 characters.
    const contradiction = 6 * 2 * 3 * 1_024;
    expect(INPUT_BYTES + recordedWith + contradiction + NAMES + METADATA).toBeLessThanOrEqual(APPEND_BYTES);
  });

  it('cause a refusal with the status 413 [1.2x]', () => {
    expect(statuses.EVENTS_TOO_LARGE).toBe(413);
  });
});
