import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isSame } from '../../../src/features/replays/differences.js';
import {
  createMindReplay,
  type DecidedAgain,
  type KnownLogics,
  type RulesAgain,
} from '../../../src/features/replays/replay-mind.js';
import { CURRENT_LOGIC, type Logic, logicOf } from '../../../src/features/turns/domain/decision/logic.js';
import type { DirectiveRuleSet } from '../../../src/features/rules/domain/ruleset.js';
import { jcs, type Json, type JsonObject } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { memoryStored, recorded } from '../../support/histories.js';
import { playedMind } from '../../support/played-minds.js';
import { allSlices, aRuleset, aStrictRuleset } from '../../support/rules.js';

const house = aRuleset([
  { ruleName: 'rings', ruleObsPattern: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'Rings are tin.' },
  { ruleCondition: [['hp', '<25']], ruleAction: 'rest soon', rulePriority: 5, rulePromptSuffix: 'You are tired.' },
]);

const replayed = (
  events: readonly RecordedEvent[],
  again: RulesAgain = { trial: false, rules: house },
  output?: string,
  known?: KnownLogics,
): readonly DecidedAgain[] => {
  const replay = createMindReplay('mira', known);
  return events.flatMap((event) => allSlices(replay.take(event, again, output)).result);
};
const differences = (all: readonly DecidedAgain[]) =>
  all.flatMap(({ type, revision, difference }) => (difference === null ? [] : [{ type, revision, difference }]));

/** The history with one event changed. */
const changed = (
  events: readonly RecordedEvent[],
  at: number,
  change: (data: JsonObject) => JsonObject,
): readonly RecordedEvent[] =>
  events.map((event, index) => (index === at ? { ...event, data: change(event.data) } : event));

describe('a replayed mind', () => {
  const history = playedMind('mira', 8, house);
  const indexOf = (type: string): number => history.findIndex((event) => event.type === type);

  it('decides everything as it was recorded [10.3c]', () => {
    const all = replayed(history);
    expect(all).toHaveLength(8 * 4);
    expect(differences(all)).toEqual([]);
    expect(all.every(({ would }) => would !== null)).toBe(true);
  });

  it.each([
    ['a prompt', 'MemoriesRecalled', 'otherPrompt', { instruction: { type: 'ExecuteInference', prompt: 'Obey.' } }],
    ['a recall', 'ActorIdentified', 'otherRecall', { instruction: { type: 'QueryVector', query: 'x', limit: 5 } }],
    ['a text that the verdict was reached on', 'VerdictReached', 'otherAction', { generatedOutput: 'No.' }],
  ])('reports %s that differs from the result [10.3l]', (_, type, difference, members) => {
    const all = differences(replayed(changed(history, indexOf(type), (data) => ({ ...data, ...members }))));
    expect(all[0]).toEqual({ type, revision: indexOf(type), difference });
  });

  it('reports changes of a verdict’s state and memories [10.3l]', () => {
    const patched = changed(history, indexOf('StateChanged'), (data) => ({ ...data, patch: { gold: 9_000 } }));
    expect(differences(replayed(patched))[0]).toMatchObject({ type: 'StateChanged', difference: 'otherState' });
    const told = changed(history, indexOf('MemoryStored'), (data) => ({ ...data, text: 'Trust everybody.' }));
    expect(differences(replayed(told))).toEqual([
      { type: 'StateChanged', revision: indexOf('MemoryStored'), difference: 'otherState' },
    ]);
    const lost = history.filter((_, index) => index !== indexOf('StateChanged'));
    expect(differences(replayed(lost))[0]).toMatchObject({ difference: 'otherState' });
    const [extra] = recorded(npcStream('studio', 'mira'), [
      { type: 'StateChanged', data: { turnId: 't7', patch: { gold: 9_000 } } } satisfies EventDraft,
    ]);
    if (extra === undefined) throw new Error('nothing was made');
    expect(differences(replayed([...history, extra]))).toMatchObject([{ difference: 'otherState' }]);
  });

  it('stores the time of the game with memories, as the logic of the turn did [13.3b]', () => {
    const clock: EventDraft = { type: 'FactsReported', data: { facts: { time: 3_600 } } };
    const timed = playedMind('mira', 2, house, undefined, [clock]);
    const stored = timed.findIndex(({ type }) => type === 'MemoryStored');
    expect(timed[stored]?.data).toMatchObject({ gameTime: 3_600 });
    expect(differences(replayed(timed))).toEqual([]);
    const untimed = timed.map((event) => {
      const { gameTime: _, ...data } = event.data;
      return { ...event, data };
    });
    expect(differences(replayed(untimed))[0]).toMatchObject({ revision: stored, difference: 'otherState' });
    const older = untimed.map((event) =>
      'logic' in event.data ? { ...event, data: { ...event.data, logic: 3 } } : event,
    );
    expect(differences(replayed(older))).toEqual([]);
  });

  it('reports a decision that equals the recorded one for other grounds [10.3l]', () => {
    const at = indexOf('VerdictReached');
    const other = changed(history, at, (data) => ({ ...data, grounds: { rules: [], seen: [], checks: [] } }));
    expect(differences(replayed(other))).toEqual([{ type: 'VerdictReached', revision: at, difference: 'otherTrace' }]);
  });

  it('accepts memories that another client stored', () => {
    const stream = npcStream('studio', 'mira');
    const told = recorded(stream, [memoryStored('m1')], history.length);
    expect(differences(replayed([...history, ...told]))).toEqual([]);
  });

  it('gives the reason for a decision that it cannot make [10.3p]', () => {
    const newer = changed(history, 0, (data) => ({ ...data, logic: 99 }));
    expect(replayed(newer)[0]).toMatchObject({ would: null, difference: null, skipped: 'logic' });
    expect(replayed(history, { trial: false, rules: null })[0]).toMatchObject({ skipped: 'rules' });
    expect(replayed(history.slice(1))[0]).toMatchObject({ type: 'ActorIdentified', skipped: 'turn' });
    // Whatever a skipped verdict recorded beside it does not count against it.
    const verdictAt = indexOf('VerdictReached');
    const all = replayed(changed(history, verdictAt, (data) => ({ ...data, logic: 99 })));
    expect(all.filter(({ skipped }) => skipped !== undefined)).toHaveLength(1);
    expect(differences(all)).toEqual([]);
  });

  it('skips events and has the mind after them', () => {
    const replay = createMindReplay('mira');
    const half = history.length / 2;
    for (const event of history.slice(0, half)) replay.pass(event);
    const all = history
      .slice(half)
      .flatMap((event) => allSlices(replay.take(event, { trial: false, rules: house })).result);
    expect(all).toHaveLength(4 * 4);
    expect(differences(all)).toEqual([]);
  });
});

describe('a trial of other rules on a recorded history', () => {
  const history = playedMind('mira', 4, house);
  const tried = (rules: DirectiveRuleSet | null) =>
    differences(replayed(history, { trial: true, rules, then: house })).filter(
      ({ difference }) => difference !== 'otherTrace',
    );
  const kinds = (rules: DirectiveRuleSet | null) => new Set(tried(rules).map(({ difference }) => difference));

  it('finds nothing with the same rules', () => {
    expect(differences(replayed(history, { trial: true, rules: house, then: house }))).toEqual([]);
  });

  it('finds what they would refuse, ask and answer [10.3l]', () => {
    expect(kinds(aRuleset([{ ruleAction: 'FORBID INTERACT', ruleReason: 'Touch nothing.' }]))).toEqual(
      new Set(['newlyRefused', 'otherRecall', 'otherPrompt']),
    );
    expect(kinds(aRuleset([{ ruleName: 'tolls', ruleAction: 'ask for the toll' }]))).toEqual(
      new Set(['otherRecall', 'otherPrompt']),
    );
  });

  it('judges each decision alone: earlier differences do not count [10.3f]', () => {
    const rules = aRuleset([{ ruleAction: 'FORBID INTERACT', ruleReason: 'Touch nothing.' }]);
    const half = history.length / 2;
    const later = history.slice(half);
    const replay = createMindReplay('mira');
    for (const event of history.slice(0, half)) replay.pass(event);
    const alone = later.flatMap((event) => allSlices(replay.take(event, { trial: true, rules, then: house })).result);
    const all = replayed(history, { trial: true, rules, then: house });
    expect(differences(all.slice(0, -alone.length))).not.toEqual([]);
    expect(all.slice(-alone.length)).toEqual(alone);
  });

  it('tries their patterns on the recorded observations', () => {
    const onRings = aRuleset([{ ruleObsPattern: 'silver ring', ruleAction: 'FORBID INTERACT', ruleReason: 'No.' }]);
    expect(tried(onRings).filter(({ difference }) => difference === 'newlyRefused')).toHaveLength(1);
  });

  it('finds what strict rules had refused, and what they would refuse for another reason [10.3l]', () => {
    const strict = aRuleset([{ ruleAction: 'FORBID *', ruleReason: 'Be still.' }]);
    const refused = playedMind('mira', 4, strict);
    const all = differences(replayed(refused, { trial: true, rules: house, then: strict }));
    expect(all.filter(({ difference }) => difference === 'newlyAllowed')).toHaveLength(4);
    const quiet = aRuleset([{ ruleAction: 'FORBID *', ruleReason: 'Be quiet.' }]);
    const again = differences(replayed(refused, { trial: true, rules: quiet, then: strict }));
    expect(again.filter(({ difference }) => difference === 'otherReason')).toHaveLength(4);
  });

  it('judges another text by the recorded rules [10.3e]', () => {
    const again: RulesAgain = { trial: false, rules: house };
    const other = JSON.stringify({
      dialogue: 'Take it.',
      action: { type: 'GIVE', target: 'stranger', item: 'ledger' },
    });
    const verdicts = replayed(history, again, other).filter(({ type }) => type === 'VerdictReached');
    expect(verdicts.map(({ difference }) => difference)).toEqual([
      ...['otherAction', 'newlyRefused', 'otherAction', 'otherAction'],
    ]);
  });
});

describe('a trial under another logic than the recorded one', () => {
  const history = playedMind('mira', 4, house);
  const recordedLogic = logicOf(CURRENT_LOGIC);
  const [loud, forgetful] = [CURRENT_LOGIC + 1, CURRENT_LOGIC + 2];
  let verdicts = 0;
  /** A logic that shouts, and otherwise decides as the recorded one. */
  const shouting: Logic = {
    ...recordedLogic,
    reachVerdict: (input, text) => {
      verdicts += 1;
      const { verdict, grounds } = recordedLogic.reachVerdict(input, text);
      return { grounds, verdict: { ...verdict, dialogue: `${verdict.dialogue}!` } };
    },
  };
  /** A logic that only records less. */
  const untraced: Logic = {
    ...recordedLogic,
    reachVerdict: (input, text) => ({
      verdict: recordedLogic.reachVerdict(input, text).verdict,
      grounds: { rules: [], seen: [], checks: [] },
    }),
  };
  const all = { [CURRENT_LOGIC]: recordedLogic, [loud]: shouting, [forgetful]: untraced };
  const known = { all, current: loud };
  const still = aRuleset([{ ruleAction: 'FORBID *', ruleReason: 'Be still.' }]);
  const trial = (rules: DirectiveRuleSet, then: DirectiveRuleSet | null = house): RulesAgain => ({
    ...{ trial: true, rules, then },
  });
  const verdictsOf = (decided: readonly DecidedAgain[]) => decided.filter(({ type }) => type === 'VerdictReached');
  const dialogueOf = (outcome: unknown) => (outcome as { verdict: { dialogue: string } }).verdict.dialogue;

  it('counts what the logic alone changes apart from the rules [10.3t]', () => {
    const decided = verdictsOf(replayed(history, trial({ ...house }), undefined, known));
    expect(decided).toHaveLength(4);
    for (const { was, then, difference, byLogic } of decided) {
      expect([difference, byLogic]).toEqual([null, 'otherAction']);
      expect(dialogueOf(then)).toBe(`${dialogueOf(was)}!`);
    }
    const others = replayed(history, trial({ ...house }), undefined, known).filter(
      ({ type }) => type !== 'VerdictReached',
    );
    expect(others.every(({ difference, byLogic }) => difference === null && byLogic === null)).toBe(true);
  });

  it('compares the rules on trial with those of the time, both under the current logic [10.3s, 10.3t]', () => {
    const decided = verdictsOf(replayed(history, trial(still), undefined, known));
    expect(decided.map(({ difference, byLogic }) => [difference, byLogic])).toEqual(
      Array.from({ length: 4 }, () => ['newlyRefused', 'otherAction']),
    );
    expect(decided.every(({ then, would }) => [then, would].every((one) => dialogueOf(one).endsWith('!')))).toBe(true);
  });

  it('tries the patterns of the rules on trial on what the current logic shows [10.3s, 5.5v]', () => {
    const { texts } = recordedLogic;
    const marking: Logic = { ...recordedLogic, texts: { ...texts, guard: (text) => `<${texts.guard(text)}>` } };
    const marked = aStrictRuleset([{ ruleObsPattern: '^<', ruleAction: 'FORBID *' }]);
    const decided = replayed(history, trial(marked), undefined, { all: { ...all, [loud]: marking }, current: loud });
    expect(verdictsOf(decided).map(({ difference }) => difference)).toEqual(
      Array.from({ length: 4 }, () => 'newlyRefused'),
    );
  });

  it('never takes what the current logic shows to patterns for an effect of the rules [10.3s, 10.3t]', () => {
    const { texts } = recordedLogic;
    const marking: Logic = { ...recordedLogic, texts: { ...texts, guard: (text) => `<${texts.guard(text)}>` } };
    const marked = aStrictRuleset([{ ruleObsPattern: '^<', ruleAction: 'FORBID *' }]);
    const recordedUnder = playedMind('mira', 4, marked);
    for (const rules of [marked, { ...marked }]) {
      const decided = replayed(recordedUnder, trial(rules, marked), undefined, {
        all: { ...all, [loud]: marking },
        current: loud,
      });
      expect(verdictsOf(decided).map(({ difference, byLogic }) => [difference, byLogic])).toEqual(
        Array.from({ length: 4 }, () => [null, 'newlyRefused']),
      );
      expect(differences(decided)).toEqual([]);
    }
  });

  it('is no matter of a replay, which uses the recorded logic [10.3c]', () => {
    const decided = replayed(history, { trial: false, rules: house }, undefined, known);
    expect(differences(decided)).toEqual([]);
    expect(decided.every(({ then, byLogic }) => then === undefined && byLogic === undefined)).toBe(true);
  });

  it('decides once if the rules are the same [10.3s]', () => {
    verdicts = 0;
    const same = replayed(history, trial(house), undefined, known);
    expect([verdicts, differences(same)]).toEqual([4, []]);
    expect(verdictsOf(same).every(({ byLogic }) => byLogic === 'otherAction')).toBe(true);
    replayed(history, trial({ ...house }), undefined, known);
    expect(verdicts).toBe(4 + 8);
  });

  it('compares another text with the decision on the recorded one [10.3s]', () => {
    const decided = verdictsOf(replayed(history, trial(house), 'Go away.'));
    expect(decided.map(({ difference, byLogic }) => [difference, byLogic])).toEqual(
      Array.from({ length: 4 }, () => ['otherAction', null]),
    );
  });

  it('uses the record in place of rules that are lost, unless another logic made it [10.3p, 10.3s]', () => {
    const stillThere = verdictsOf(replayed(history, trial(still, null)));
    expect(stillThere.map(({ difference, byLogic }) => [difference, byLogic])).toEqual(
      Array.from({ length: 4 }, () => ['newlyRefused', null]),
    );
    const lost = replayed(history, trial(still, null), undefined, known);
    expect(lost.every(({ would, skipped }) => would === null && skipped === 'rules')).toBe(true);
    const without = verdictsOf(replayed(playedMind('mira', 1, null), trial(still, null), undefined, known));
    expect(without).toMatchObject([{ difference: 'newlyRefused', byLogic: 'otherAction' }]);
  });

  it('gives the reason for a decision by a logic that is not known [10.3p]', () => {
    const newer = changed(history, 0, (data) => ({ ...data, logic: 99 }));
    expect(replayed(newer, trial(still), undefined, known)[0]).toMatchObject({ would: null, skipped: 'logic' });
  });

  it('reports a changed trace as such', () => {
    const decided = verdictsOf(replayed(history, trial({ ...house }), undefined, { all, current: forgetful }));
    expect(decided.every(({ byLogic }) => byLogic === 'otherTrace')).toBe(true);
  });
});

describe('the comparison of outcomes', () => {
  it('distinguishes values as their JCS forms do', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(isSame(left, right)).toBe(jcs(left) === jcs(right));
        expect(isSame(left, JSON.parse(JSON.stringify(left)) as Json)).toBe(true);
      }),
    );
  });

  it('finds one changed member', () => {
    expect(isSame({ a: [1, { b: null }] }, { a: [1, { b: 0 }] })).toBe(false);
    expect(isSame({ a: 1 }, { a: 1, b: null })).toBe(false);
    expect(isSame({ a: [] }, { a: {} })).toBe(false);
  });
});
