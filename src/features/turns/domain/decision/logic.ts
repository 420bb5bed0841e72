import { validateAction } from '../../../rules/domain/bridge/validate.js';
import { Rejection } from '../../../../kernel/base/rejection.js';
import { gameTimeOf } from '../../../npcs/domain/game-time.js';
import type { DecisionInput } from './input.js';
import { effectiveInput, type TurnFacts, type TurnRequest } from './turn-facts.js';
import { giveDirective } from './directive.js';
import { buildPrompt } from './prompt.js';
import { TEXT_RULES, TEXT_RULES_3, TEXT_RULES_BEFORE_3, type TextRules } from './text-rules.js';
import { reachVerdict } from './verdict.js';

/** All functions that decide. Two numbers may share a function that did not change between them. */
export type Logic = {
  /** How it reads the texts of models, and keeps texts from outside apart. */
  readonly texts: TextRules;
  readonly effectiveInput: (facts: TurnFacts, asked: TurnRequest) => DecisionInput;
  readonly giveDirective: typeof giveDirective;
  readonly buildPrompt: typeof buildPrompt;
  readonly reachVerdict: typeof reachVerdict;
  readonly validateAction: typeof validateAction;
  /** The time of the game that a verdict's memories are stored with. */
  readonly gameTimeOf: typeof gameTimeOf;
};

/** The logic that decides new turns and single acts; it is recorded in their events (docs/adr/0012). */
export const CURRENT_LOGIC = 4;

const logicWith = (texts: TextRules, gameTimeOf: Logic['gameTimeOf'] = () => undefined): Logic => ({
  texts,
  gameTimeOf,
  effectiveInput: (facts, asked) => effectiveInput(facts, asked, texts),
  ...{ giveDirective, buildPrompt, reachVerdict, validateAction },
});
const first = logicWith(TEXT_RULES_BEFORE_3);

/** Every logic that ever made decisions, by its number. A turn continues with the logic under which it was opened, and replays use it again. */
export const logics: Readonly<Record<number, Logic>> = {
  1: first,
  // Reads rulesets of grammar 2, which no turn of the first logic has. So they share their functions.
  2: first,
  // Tells reasoning, special tokens and calls in the texts of models apart from what they say.
  3: logicWith(TEXT_RULES_3),
  // Tells agents the age of their memories and how to store them, and takes the words of a ruleset's own prompt. Takes reasoning out of the strings of
  // an answer.
  4: logicWith(TEXT_RULES, gameTimeOf),
};

/** @throws Rejection LOGIC_UNKNOWN for a number that only a newer server knows */
export const logicOf = (logic: number): Logic => {
  const known = logics[logic];
  if (known === undefined) throw new Rejection('LOGIC_UNKNOWN', { details: { logic }, retryAfter: 1 });
  return known;
};
