import { Rejection } from '../../kernel/base/rejection.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { DECIDE_ATTEMPTS, othersKeptWriting } from '../../kernel/streams/attempts.js';
import { type Command, type CommandDeps, runCommand, type UncheckedDraft } from '../../kernel/streams/run-command.js';
import type { Recorded } from '../../kernel/streams/stream-writer.js';
import type { MindState } from '../npcs/domain/state.js';
import { mindFold } from '../npcs/mind-fold.js';
import { heldPatterns } from './domain/decision/observation-line.js';
import type { ChosenRuleset, RulesetChoice } from '../rules/rulesets.js';

/** The rules of one command: the chosen ruleset, and the ids of its rules whose pattern matches the observation. */
export type RulesAtHand = { readonly chosen: ChosenRuleset; readonly patternsHeld: readonly string[] };

/** Chooses the rules of one command, before the mind is known for certain. */
export const rulesAtHand = async (
  choose: (choice: RulesetChoice) => Promise<ChosenRuleset>,
  choice: RulesetChoice,
  observation: string,
): Promise<RulesAtHand> => {
  const chosen = await choose(choice);
  return {
    chosen,
    patternsHeld: await inSlices(heldPatterns(chosen.ruleset, observation)),
  };
};

type RulesToChoose = {
  readonly stream: string;
  readonly choose: (choice: RulesetChoice) => Promise<ChosenRuleset>;
  readonly named?: string;
  readonly observation: string;
};

/**
 * Runs a command on a mind with the rules that the mind is bound to when the command decides. If the mind is bound to others in the meantime, the
 * rules are chosen again.
 * @throws Rejection as `choose` and runCommand
 */
export const runWithRules = async (
  deps: CommandDeps,
  { stream, choose, named, observation }: RulesToChoose,
  by: Command,
  decide: (mind: MindState, rules: RulesAtHand) => readonly UncheckedDraft[],
): Promise<Recorded<MindState> & { readonly rules: RulesAtHand }> => {
  const outdated = new Rejection('CONFLICT');
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    const { rulesetId: bound } = (await deps.writers.open(stream, mindFold)).state;
    const rules = await rulesAtHand(choose, { bound, named }, observation);
    try {
      const recorded = await runCommand(deps, stream, mindFold, by, (mind) =>
        mind.rulesetId === bound ? decide(mind, rules) : outdated,
      );
      return { ...recorded, rules };
    } catch (error) {
      if (error !== outdated) throw error;
    }
  }
  throw othersKeptWriting();
};
