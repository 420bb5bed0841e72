import { joined } from '../../kernel/model-text/reasoning.js';
import { separateReasoning } from '../../kernel/model-text/separate.js';
import { withoutToolCalls } from '../../kernel/model-text/tool-calls.js';
import { untilEnd } from '../../kernel/model-text/until-end.js';

/** What a model says, and what it thought. */
export type Said = {
  readonly text: string;
  readonly reasoning: string;
  /** There are neither words nor a call: nothing to speak, and nothing to do. */
  readonly isEmpty: boolean;
};

/** Tells what a model says from what it thought. @param thoughts what the server has already told apart */
export const saidIn = (written: string, thoughts: readonly string[] = []): Said => {
  const { text, reasoning } = separateReasoning(written);
  const { text: words, calls } = withoutToolCalls(text);
  return {
    text,
    reasoning: joined([...new Set([...thoughts, reasoning])]),
    isEmpty: calls.length === 0 && untilEnd(words).trim() === '',
  };
};
