import type { BridgeAnswer, BridgeQuestion } from '../../bridge/validate.js';
import type { DirectiveRuleSet } from '../../rules/ruleset.js';
import type { Json } from '../../shared/json.js';
import { shortenedObject } from '../../shared/shorten.js';
import { cutJsonText } from '../../shared/text.js';
import { CURRENT_LOGIC, logicOf } from './logic.js';
import type { NpcDraft } from '../events.js';
import { DETAILS_BYTES, DIALOGUE_BYTES } from '../recorded-bytes.js';
import type { MindState } from '../state.js';

/** What a check of the bridge records of its answer. */
type RecordedAnswer = Omit<BridgeAnswer, 'checks'>;

/** The answer of a logic to a question, as it is recorded: what is too long of it is shortened. @throws Rejection LOGIC_UNKNOWN */
export const recordedAnswer = (logic: number, question: BridgeQuestion): RecordedAnswer => {
  const { checks: _, ...answer } = logicOf(logic).validateAction(question);
  return {
    ...answer,
    reason: answer.reason && cutJsonText(answer.reason, DIALOGUE_BYTES),
    details: shortenedObject(answer.details, DETAILS_BYTES),
  };
};

/** Answers whether the world lets a mind act, and records the answer (contract 4.1). */
export const checkOfMind = (
  mind: MindState,
  asked: {
    readonly action: Json;
    readonly context: Json;
    readonly ruleset: DirectiveRuleSet | null;
    readonly patternsHeld: readonly string[];
  },
): readonly NpcDraft[] => {
  const { ruleset, patternsHeld, ...inputs } = asked;
  return [
    {
      type: 'BridgeChecked',
      data: {
        mindRevision: mind.revision,
        logic: CURRENT_LOGIC,
        ...inputs,
        ruleset: ruleset === null ? null : { rulesetId: ruleset.rulesetId, version: ruleset.version },
        ...(patternsHeld.length === 0 ? {} : { patternsHeld }),
        ...recordedAnswer(CURRENT_LOGIC, { ...asked, recorded: mind.data }),
      },
    },
  ];
};
