import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { findBreak } from '../../support/find-break.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { QUEUE_LIMIT } from '../../../src/kernel/concurrency/keyed-mutex.js';
import type { TapeResult, Tape } from '../../../src/features/turns/domain/tape.js';
import type { TurnAnswer } from '../../../workflows/turn/turn-answer.js';
import { ManualClock } from '../../support/manual-clock.js';
import { storeWith } from '../../support/streams.js';
import { DEADLINE_MS, generated, identified, openMinds, recalled, tapeOf } from '../../support/minds.js';

const turnTypes = ['TurnOpened', 'ActorIdentified', 'MemoriesRecalled', 'VerdictReached', 'MemoryStored'];

/** The tape that a stateful client sends next. */
const returned = (answer: TurnAnswer): Tape => tapeOf(answer.tape);
const withoutId = ({ turnId: _, ...tape }: Tape): Tape => tape;

describe('a turn', () => {
  it.each([
    ['returns the tape that it received', (answer: TurnAnswer, _: Tape) => returned(answer)],
    ['returns it without the turn id', (answer: TurnAnswer, _: Tape) => withoutId(returned(answer))],
    ['sends its first tape again', (_: TurnAnswer, first: Tape) => first],
    [
      'sends its first tape with the turn id',
      (answer: TurnAnswer, first: Tape) => ({ ...first, turnId: answer.turnId }),
    ],
  ])('ends in four steps for a thin client that %s [2.5a]', async (_, next) => {
    await using minds = await openMinds();
    const first = tapeOf();
    let answer = (await minds.step(first)).answer;
    expect(answer.instruction.type).toBe('IdentifyActor');
    answer = (await minds.step(next(answer, first), identified)).answer;
    expect(answer.instruction.type).toBe('QueryVector');
    answer = (await minds.step(next(answer, first), recalled)).answer;
    expect(answer.instruction.type).toBe('ExecuteInference');
    answer = (await minds.step(next(answer, first), generated)).answer;
    expect(answer.instruction).toMatchObject({ type: 'Finalize', verdict: { valid: true } });
    expect(await minds.types()).toEqual(turnTypes);
  });

  it.each([true, false])('ends in four steps for a fat client (turn id kept: %s) [2.2d, 2.5a]', async (keepsId) => {
    await using minds = await openMinds();
    const keep = (tape: Tape): Tape => (keepsId ? tape : withoutId(tape));
    let { answer } = await minds.step(tapeOf());
    const actor = { npcId: 'mira', persona: null, data: {} };
    answer = (await minds.step(keep({ ...returned(answer), actor }))).answer;
    expect(answer.instruction.type).toBe('QueryVector');
    answer = (await minds.step(keep({ ...returned(answer), memories: [], vectorQueried: true }))).answer;
    expect(answer.instruction.type).toBe('ExecuteInference');
    answer = (await minds.step(keep({ ...returned(answer), generatedOutput: 'Welcome.' }))).answer;
    expect(answer.instruction).toMatchObject({ type: 'Finalize' });
    expect(await minds.types()).toEqual(turnTypes);
  });

  it('makes one transition per request, however much the tape contains [2.5d]', async () => {
    await using minds = await openMinds();
    const full = tapeOf({
      actor: { npcId: 'mira', persona: null, data: {} },
      memories: [],
      vectorQueried: true,
      generatedOutput: 'Too early.',
    });
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push((await minds.step(full)).answer.instruction.type);
    expect(answers).toEqual(['QueryVector', 'ExecuteInference', 'Finalize']);
  });

  it('merges the result into the returned tape, and prefers the result to the tape [2.5b]', async () => {
    await using minds = await openMinds();
    const { turnId } = (await minds.step(tapeOf())).answer;
    const tape = tapeOf({ turnId, actor: { npcId: 'mira', persona: 'Of the tape.', data: {} } });
    const result: TapeResult = {
      type: 'IdentifyActorResult',
      actor: { npcId: 'mira', persona: 'Of the result.', data: {} },
    };
    for (let times = 0; times < 2; times += 1) {
      const { answer } = await minds.step(tape, result);
      expect(answer.tape['actor']).toMatchObject({ persona: 'Of the result.' });
    }
    expect(await minds.types()).toEqual(['TurnOpened', 'ActorIdentified']);
  });

  it('opens with the actor when the tape contains one [2.6g]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf({ actor: { npcId: 'mira', persona: 'Calm.', data: {} } }));
    expect(answer.instruction.type).toBe('QueryVector');
    expect(await minds.types()).toEqual(['TurnOpened']);
  });

  it('answers a repeated result the same way and records no second event, even after the end of the turn [2.6j]', async () => {
    await using minds = await openMinds();
    const first = tapeOf();
    const steps: (TapeResult | null)[] = [identified, recalled, generated];
    const opened = (await minds.step(first)).answer;
    const answers = [];
    for (const result of steps) answers.push((await minds.step({ ...first, turnId: opened.turnId }, result)).answer);
    const recorded = await minds.events();
    for (const [n, result] of steps.entries()) {
      expect((await minds.step({ ...first, turnId: opened.turnId }, result)).answer).toEqual(answers[n]);
      expect((await minds.step(first, result)).answer).toEqual(answers[n]);
    }
    expect(await minds.events()).toEqual(recorded);
  });

  it('appends the events of each step at once [2.6c]', async () => {
    const store = new MemoryEventStore();
    const appended: string[][] = [];
    const append: EventStore['append'] = (stream, expected, events) => {
      appended.push(events.map(({ type }) => type));
      return store.append(stream, expected, events);
    };
    await using minds = await openMinds(store, new ManualClock(), { through: storeWith(store, { append }) });
    await minds.step(tapeOf({ rulesetId: 'nowhere' }));
    await minds.step(tapeOf({ npcState: { hp: 1 } }), identified);
    await minds.step(tapeOf(), recalled);
    await minds.step(tapeOf(), {
      ...generated,
      generatedOutput: '{"stateDelta": {"mood": "glad"}, "memories": ["a", "b"]}',
    });
    expect(appended).toEqual([
      ['RulesetMissing', 'TurnOpened'],
      ['TapeMismatchNoticed', 'ActorIdentified'],
      ['MemoriesRecalled'],
      ['VerdictReached', 'StateChanged', 'MemoryStored', 'MemoryStored'],
    ]);
  });

  it('answers the same after the process was killed between any two steps', async () => {
    const unbroken = await openMinds();
    const broken = await openMinds();
    let minds = broken;
    for (const result of [null, identified, recalled, generated]) {
      const expected = (await unbroken.step(tapeOf(), result, { commandId: String(result?.type) })).answer;
      expect((await minds.step(tapeOf(), result, { commandId: String(result?.type) })).answer).toEqual(expected);
      minds = await minds.reopened();
    }
    expect(await minds.events()).toEqual(await unbroken.events());
    expect(findBreak(await minds.events())).toBeNull();
  });

  it('does not affect another turn of the same mind with the same words [2.6e, 2.6f, 2.6g]', async () => {
    await using minds = await openMinds();
    const ids = [];
    for (let player = 0; player < 2; player += 1) ids.push((await minds.step(tapeOf())).answer.turnId);
    const [one = '', other = ''] = ids;
    expect(one).not.toBe(other);
    const [mine, theirs] = await Promise.all([
      minds.step(tapeOf({ turnId: one }), identified),
      minds.step(tapeOf({ turnId: other }), identified),
    ]);
    expect(mine.answer.turnId).toBe(one);
    expect(theirs.answer.turnId).toBe(other);
    expect(findBreak(await minds.events())).toBeNull();
    expect((await minds.types()).filter((type) => type === 'ActorIdentified')).toHaveLength(2);
    for (const result of [recalled, generated])
      await Promise.all(ids.map((turnId) => minds.step(tapeOf({ turnId }), result)));
    const ends = (await minds.events()).slice(-4).map(({ type, data }) => [type, data['turnId']]);
    const first = ends[0]?.[1] === one ? [one, other] : [other, one];
    expect(ends).toEqual(first.flatMap((turnId) => ['VerdictReached', 'MemoryStored'].map((type) => [type, turnId])));
  });

  it.each([
    ['a result for a round not yet reached', recalled],
    ['a result of an unknown type', 'unknown' as const],
  ])('answers %s with the current instruction and records nothing [2.6k]', async (_, misfit) => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf());
    const again = await minds.step(tapeOf({ turnId: answer.turnId }), misfit);
    expect(again.answer).toEqual(answer);
    expect(await minds.types()).toEqual(['TurnOpened']);
  });

  it('answers a contradicting tape from the record, and notes the contradiction once [2.6n]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf({ npcState: { hp: 10 } }));
    const lie = tapeOf({ turnId: answer.turnId, observation: 'Nobody is there.', npcState: { hp: 11 } });
    const second = await minds.step(lie, identified);
    expect(second.answer.tape).toMatchObject({ observation: 'A stranger asks for a room.', npcState: { hp: 10 } });
    await minds.step(lie, recalled);
    const noticed = (await minds.events()).filter(({ type }) => type === 'TapeMismatchNoticed');
    expect(noticed.map(({ data }) => data['members'])).toEqual([
      [
        { member: 'observation', recorded: 'A stranger asks for a room.', received: 'Nobody is there.' },
        { member: 'npcState', recorded: { hp: 10 }, received: { hp: 11 } },
      ],
    ]);
  });

  it('notes a different result for an earlier round, and answers that round from the record [2.6j]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf());
    const { turnId } = answer;
    await minds.step(tapeOf({ turnId }), identified);
    const told = (await minds.step(tapeOf({ turnId }), recalled)).answer;
    const other: TapeResult = {
      type: 'QueryVectorResult',
      memories: [{ text: 'Something else.', type: 'x', importance: 0, similarity: 0 }],
    };
    expect((await minds.step(tapeOf({ turnId }), other)).answer).toEqual(told);
    expect((await minds.types()).at(-1)).toBe('TapeMismatchNoticed');
  });

  it('treats key order, single precision, absent, null and empty as no contradiction [2.6p]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf({ npcState: { a: 0.1, b: 1, c: null }, context: { x: {} } }));
    const { turnId } = answer;
    await minds.step(tapeOf({ turnId, npcState: { b: 1, a: Math.fround(0.1) }, context: {} }), identified);
    expect(await minds.types()).toEqual(['TurnOpened', 'ActorIdentified']);
  });

  it('continues from the tape alone when the turn is unknown, and is found by a repeat under the old id [2.6h, 2.6i]', async () => {
    await using minds = await openMinds();
    const tape = tapeOf({
      turnId: 't0_0_unknownunknownun',
      actor: { npcId: 'mira', persona: null, data: {} },
      memories: [],
      vectorQueried: true,
    });
    const resumed = (await minds.step(tape, generated)).answer;
    expect(resumed.instruction.type).toBe('Finalize');
    expect((await minds.events())[0]?.data).toMatchObject({ resumedFrom: 't0_0_unknownunknownun' });
    const before = await minds.types();
    const [again, atOnce] = await Promise.all([minds.step(tape, generated), minds.step(tape, generated)]);
    expect(again.answer).toEqual(resumed);
    expect(atOnce.answer).toEqual(resumed);
    expect(await minds.types()).toEqual(before);
  });

  it('resumes a lost turn once, whichever of several servers get its repeats [2.6i]', async () => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    await using one = await openMinds(store, clock, { shared: true });
    await using other = await openMinds(store, clock, { shared: true });
    // All servers lose the turn of each round at the same moment.
    for (let round = 0; round < 10; round += 1) {
      const tape = tapeOf({ turnId: `t0_0_unknownunknown${round}` });
      const answers = await Promise.all(
        [one, other, one, other].map((server, n) => server.step(tape, identified, { commandId: `c-${round}-${n}` })),
      );
      expect(new Set(answers.map(({ answer }) => answer.turnId)).size).toBe(1);
    }
    expect((await one.types()).filter((type) => type === 'TurnOpened')).toHaveLength(10);
  });

  it('does not wait for other minds whose bodies made up the same turn id', async () => {
    await using minds = await openMinds();
    const npcIds = Array.from({ length: QUEUE_LIMIT + 1 }, (_, n) => `mira-${n}`);
    const steps = await Promise.all(npcIds.map((npcId) => minds.step(tapeOf({ turnId: 'mine' }), null, { npcId })));
    expect(new Set(steps.map(({ answer }) => answer.turnId)).size).toBe(npcIds.length);
  });

  it('expires by its durable timer, and continues as a resumed turn when the player returns [2.6b, 2.6h, 2.6i]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf());
    await minds.clock.advance(DEADLINE_MS + 1);
    expect(await minds.types()).toEqual(['TurnOpened', 'TurnExpired']);
    const back = (await minds.step(tapeOf({ turnId: answer.turnId }), identified)).answer;
    expect(back.instruction.type).toBe('QueryVector');
    expect(back.turnId).not.toBe(answer.turnId);
    for (const again of [tapeOf({ turnId: answer.turnId }), tapeOf()])
      expect((await minds.step(again, identified)).answer).toEqual(back);
    expect((await minds.events()).at(2)).toMatchObject({ type: 'TurnOpened', data: { resumedFrom: answer.turnId } });
    // It has the whole of its own deadline.
    await minds.clock.advance(DEADLINE_MS - 1_000);
    expect(await minds.types()).toHaveLength(3);
    await minds.clock.advance(1_001);
    expect((await minds.events()).at(-1)).toMatchObject({ type: 'TurnExpired', data: { turnId: back.turnId } });
  });

  it('counts its deadline from the opening: a step does not renew it [2.6b]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf());
    await minds.clock.advance(DEADLINE_MS - 1_000);
    await minds.step(tapeOf({ turnId: answer.turnId }), identified);
    await minds.clock.advance(2_000);
    expect((await minds.types()).at(-1)).toBe('TurnExpired');
  });

  it('keeps the rules it began with when they are registered again meanwhile [2.6d, 5.2d]', async () => {
    await using minds = await openMinds();
    const set = (ruleAction: string) => ({
      rulesetId: 'inn',
      template: null,
      rulesetRules: [
        {
          drRuleId: 'r1',
          ruleName: 'Peace',
          ruleCondition: [],
          ruleAction,
          ruleReason: 'Not in this house.',
          ruleTarget: null,
          rulePriority: 1,
          ruleObsPattern: null,
          rulePromptSuffix: null,
        },
      ],
    });
    await minds.register(set('FORBID ATTACK'));
    const { answer } = await minds.step(tapeOf({ rulesetId: 'inn' }));
    await minds.register(set('be kind'));
    const { turnId } = answer;
    // Only the first step chooses a ruleset.
    await minds.register({ ...set('be cruel'), rulesetId: 'street' });
    await minds.step(tapeOf({ turnId, rulesetId: 'street' }), identified);
    await minds.step(tapeOf({ turnId, rulesetId: 'street' }), recalled);
    const attack: TapeResult = {
      type: 'ExecuteInferenceResult',
      generatedOutput: '{"dialogue": "Out!", "action": {"type": "ATTACK", "target": "stranger"}}',
    };
    const ended = (await minds.step(tapeOf({ turnId, rulesetId: 'street' }), attack)).answer;
    expect(ended.instruction).toMatchObject({
      type: 'Finalize',
      verdict: { valid: false, dialogue: 'Not in this house.' },
    });
    const later = (await minds.step(tapeOf({ rulesetId: 'inn', observation: 'Later.' }))).answer;
    expect((await minds.events()).find(({ data }) => data['turnId'] === later.turnId)?.data['ruleset']).toMatchObject({
      rulesetId: 'inn',
      version: 2,
    });
  });

  it('decides without unregistered rules, and records that [2.8c]', async () => {
    await using minds = await openMinds();
    const { answer } = await minds.step(tapeOf({ rulesetId: 'nowhere' }));
    expect(answer.rulesetMissing).toBe('nowhere');
    expect(await minds.types()).toEqual(['RulesetMissing', 'TurnOpened']);
  });

  it('finds the turn of a first step that is repeated after its process died', async () => {
    await using minds = await openMinds();
    const first = await minds.step(tapeOf(), null, { commandId: 'once' });
    const again = await minds.step(tapeOf(), null, { commandId: 'once', resumed: true });
    expect(again.answer).toEqual(first.answer);
    expect(await minds.types()).toEqual(['TurnOpened']);
  });

  it('finds the turn of a fat step that is repeated under its key after the end of the turn', async () => {
    await using minds = await openMinds();
    const tapes = [
      tapeOf(),
      tapeOf({ actor: identified.actor }),
      tapeOf({ actor: identified.actor, memories: recalled.memories, vectorQueried: true }),
      tapeOf({
        actor: identified.actor,
        memories: recalled.memories,
        vectorQueried: true,
        generatedOutput: generated.generatedOutput,
      }),
    ];
    const answers = [];
    for (const [n, tape] of tapes.entries()) {
      answers.push((await minds.step(tape, null, { commandId: `step-${String(n)}` })).answer);
    }
    for (const [n, tape] of tapes.entries()) {
      // Its response could not be kept.
      const again = await minds.step(tape, null, { commandId: `step-${String(n)}`, resumed: true });
      expect(again.answer).toEqual(answers[n]);
    }
    expect(await minds.types()).toEqual(turnTypes);
  });

  it('opens one turn for one command, even if an abandoned attempt completes late [2.6g]', async () => {
    await using minds = await openMinds();
    await minds.step(tapeOf(), null, { commandId: 'once' });
    await minds.clock.advance(1_000);
    // It looked for its first attempt before that was recorded.
    await expect(minds.step(tapeOf(), null, { commandId: 'once' })).rejects.toMatchObject({ code: 'BUSY' });
    expect(await minds.types()).toEqual(['TurnOpened']);
  });

  it('is refused when its dependencies are slow, and records nothing afterwards [2.5e]', async () => {
    const store = new MemoryEventStore();
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    const through: EventStore = Object.create(store, {
      read: { value: async (...asked: Parameters<EventStore['read']>) => (await slow, store.read(...asked)) },
    });
    await using minds = await openMinds(store, new ManualClock(), { through });
    const step = minds.step(tapeOf());
    const refused = expect(step).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', retryAfter: 1 });
    let settled = false;
    void refused.then(() => (settled = true));
    await minds.clock.advance(9_999);
    expect(settled).toBe(false);
    await minds.clock.advance(1);
    await refused;
    release();
    await minds.clock.advance(1_000);
    expect(await minds.types()).toEqual([]);
  });

  it('accepts an empty generated output in a result, but not in a tape [2.5c]', async () => {
    await using minds = await openMinds();
    const { turnId } = (await minds.step(tapeOf())).answer;
    await minds.step(tapeOf({ turnId }), identified);
    await minds.step(tapeOf({ turnId }), recalled);
    expect((await minds.step(tapeOf({ turnId, generatedOutput: '' }))).answer.instruction.type).not.toBe('Finalize');
    const empty: TapeResult = { type: 'ExecuteInferenceResult', generatedOutput: '' };
    expect((await minds.step(tapeOf({ turnId }), empty)).answer.instruction.type).toBe('Finalize');
  });
});
