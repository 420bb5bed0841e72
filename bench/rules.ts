import { giveDirective } from '../src/features/turns/domain/decision/directive.js';
import type { DecisionInput } from '../src/features/turns/domain/decision/input.js';
import { CURRENT_LOGIC, logicOf } from '../src/features/turns/domain/decision/logic.js';
import { buildPrompt } from '../src/features/turns/domain/decision/prompt.js';
import { reachVerdict } from '../src/features/turns/domain/decision/verdict.js';
import { normaliseRuleset } from '../src/features/rules/domain/normalise.js';
import type { DirectiveRuleSet, Grammar } from '../src/features/rules/domain/ruleset.js';
import type { JsonObject } from '../src/kernel/base/json.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import { drained } from '../src/kernel/base/sliced.js';
import type { Effort } from './effort.js';
import { type PartReport, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { threadClock } from './thread-time.js';

const RULES = 100;
/** How much state the NPC has, in members: about 8 KiB of JSON. */
const MEMBERS = 200;
/** How many turns are decided at a time, and before the first round. */
const TURNS = 400;
const GOAL = 1.2;

/** The same rules in both grammars: numbers, texts and members of the context, of which a few match. */
const rules: readonly JsonObject[] = Array.from({ length: RULES }, (_, n) => ({
  drRuleId: `rule-${String(n)}`,
  ruleCondition: [
    [`stat${String(n)}`, `>=${String(n % 7)}`],
    [`context.place${String(n % 10)}`, n % 5 === 0 ? 'square|gate' : 'nowhere'],
    [n % 2 === 0 ? 'action.target' : `mood${String(n % 20)}`, n % 3 === 0 ? 'Tom|Eve' : '!=calm'],
  ],
  ruleAction: n % 2 === 0 ? 'FORBID ATTACK, MOVE' : 'FORBID TRADE',
  ruleReason: 'Not here, and not now.',
  rulePriority: n,
}));

const setOf = (grammar: Grammar): DirectiveRuleSet => {
  const content = drained(normaliseRuleset({ rulesetId: 'bench', grammar, rulesetRules: rules }, String));
  if (content instanceof Rejection) throw content;
  return { ...content, version: 1 };
};

const inputOf = (grammar: Grammar): DecisionInput => {
  const npcState = Object.fromEntries(
    Array.from({ length: MEMBERS }, (_, n): readonly (readonly [string, number | string])[] => [
      [`stat${String(n)}`, n % 10],
      [`mood${String(n)}`, 'a little tired'],
    ]).flat(),
  );
  return {
    npcId: 'odo',
    observation: 'A stranger asks for bread.',
    context: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`place${String(n)}`, 'square'])),
    data: npcState,
    facts: {},
    npcState,
    persona: 'A baker.',
    memories: [],
    conversation: [],
    ruleset: setOf(grammar),
    patternsHeld: [],
    texts: logicOf(CURRENT_LOGIC).texts,
  };
};

const OUTPUT = JSON.stringify({
  dialogue: 'Here you are.',
  action: { type: 'GIVE', target: 'stranger' },
  stateDelta: { mood1: 'glad' },
});

/** The three decisions of a turn. */
const decideTurn = (input: DecisionInput): void => {
  giveDirective(input);
  buildPrompt(input);
  if (!reachVerdict(input, OUTPUT).verdict.valid) throw new Error('the rules refused what they allow');
};

/** Milliseconds of one turn, over many, by a clock of CPU time, so that other work on the machine does not count. */
const turnMs = (input: DecisionInput, clockMs: () => number): number => {
  const began = clockMs();
  for (let turn = 0; turn < TURNS; turn += 1) decideTurn(input);
  return (clockMs() - began) / TURNS;
};

const microseconds = (ms: number): string => `${whole(ms * 1_000)} µs`;

/** What the decisions of a turn cost by rules of grammar 2, against the same rules in grammar 1. */
export const measureRules = async ({ rounds }: Effort): Promise<PartReport> => {
  const [strict, lenient] = [inputOf(2), inputOf(1)];
  const clockMs = threadClock();
  for (const input of [strict, lenient, strict, lenient]) turnMs(input, clockMs);
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < rounds; round += 1)
    pairs.push(
      await measurePair(
        round,
        () => Promise.resolve(turnMs(strict, clockMs)),
        () => Promise.resolve(turnMs(lenient, clockMs)),
      ),
    );
  const ratio = ratioOf(pairs);
  return {
    figures: [
      {
        what: `decisions of a turn, ${whole(RULES)} rules of three pairs in grammar 2, 8 KiB of state`,
        ours: microseconds(spreadOf(pairs.map(({ ours }) => ours)).median),
        reference: `in grammar 1: ${microseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio,
        goal: { text: `≤ ${String(GOAL)}`, met: ratio.median <= GOAL },
      },
    ],
    remarks: [],
  };
};
