import { joined } from '../../kernel/model-text/reasoning.js';
import { separateReasoning } from '../../kernel/model-text/separate.js';
import type { NpcEvent } from '../npcs/domain/events.js';

/** The first logic that tells reasoning from what a model says. */
const FIRST_WITH_REASONING = 3;

/** The reasoning of a model: what its engine told apart, and what its logic takes out of its text. */
export const reasoningOf = ({
  logic,
  generatedOutput,
  reasoning = '',
}: Pick<Extract<NpcEvent, { type: 'VerdictReached' }>['data'], 'logic' | 'generatedOutput' | 'reasoning'>):
  string | undefined => {
  const inText = logic < FIRST_WITH_REASONING ? '' : separateReasoning(generatedOutput).reasoning;
  const thought = joined([reasoning, inText]);
  return thought === '' ? undefined : thought;
};
