import {
  type OwnPrompt,
  type PartName,
  partNames,
  type PromptHeading,
} from '../../../rules/domain/prompt/own-prompt.js';
import type { DecisionInput } from './input.js';

const HEADINGS: Readonly<Record<PromptHeading, string>> = {
  persona: 'Who you are',
  state: 'Your state',
  context: 'What is around you',
  memories: 'What you remember',
  conversation: 'What was said before',
  heard: 'You heard',
  answered: 'You answered',
  rules: 'Rules',
  actions: 'Your actions',
};

/** The words and the order of a prompt: those of this server, or of the ruleset where it has its own. */
export type Wording = Pick<OwnPrompt, 'opening' | 'ages' | 'answer'> & {
  readonly headings: Readonly<Record<PromptHeading, string>>;
  readonly order: readonly PartName[];
  /** Lines of the ruleset's own; empty if it has none. */
  readonly instructions: string;
};

const SERVERS: Wording = { headings: HEADINGS, order: partNames, instructions: '' };

const mapped = <Words extends object>(words: Words, change: (text: string) => string): Words =>
  Object.fromEntries(Object.entries(words).map(([name, text]) => [name, change(String(text))])) as Words;

/** The wording of a prompt. The texts of a ruleset can neither end a message nor a paragraph. */
export const wordingOf = ({ ruleset, texts }: Pick<DecisionInput, 'ruleset' | 'texts'>): Wording => {
  const own = ruleset?.prompt;
  if (own === undefined || !texts.ownPrompts) return SERVERS;
  const lines = (all: readonly string[]): string =>
    all
      .map((line) => texts.guard(line).trim())
      .filter((line) => line !== '')
      .join('\n');
  const { opening, headings = {}, ages = {}, order = [], instructions = [], answer } = own;
  return {
    headings: { ...HEADINGS, ...mapped(headings, texts.guard) },
    ages: mapped(ages, texts.guard),
    order: [...order, ...partNames.filter((name) => !order.includes(name))],
    instructions: lines(instructions),
    ...(opening === undefined ? {} : { opening: lines(opening.split('\n')) }),
    ...(answer === undefined ? {} : { answer: lines(answer.split('\n')) }),
  };
};
