import type { Template } from '../../../rules/domain/ruleset.js';
import type { Json } from '../../../../kernel/base/json.js';
import { cutText } from '../../../../kernel/base/text.js';
import { STOPS } from '../../../../kernel/model-text/special-tokens.js';
import { charsIn, excerpts } from './excerpt.js';
import { guardText, guardTextBefore3 } from './guard-text.js';
import type { CleanText, ModelOutput } from './model-output.js';
import { cleanText, readModelText } from './model-text.js';
import { cleanText3, readModelText3 } from './model-text-3.js';
import { readModelTextBefore3, wellFormed } from './model-text-1.js';
import { formats } from './templates.js';
import { wholeMembers, wholeMembers3 } from './whole-members.js';

/** How a logic reads the texts of models, and keeps texts from outside apart in prompts. */
export type TextRules = {
  readonly read: (generated: string, declared: Pick<ReadonlySet<string>, 'has'> | null) => ModelOutput;
  /** Leaves of a string in a state change what may be recorded. */
  readonly clean: CleanText;
  readonly guard: (text: string) => string;
  /** What of long texts a prompt shows: at most `chars` UTF-16 units of each. @param about what was said */
  readonly excerpts: (
    texts: readonly { readonly text: string; readonly chars: number }[],
    about: string,
  ) => readonly string[];
  /** How much of a memory, in UTF-16 units, fits into its share of the room for memories, in bytes. */
  readonly memoryRoom: (text: string, bytes: number) => number;
  /** What of a large value a prompt shows. */
  readonly members: (value: Json, bytes: number) => Json;
  /** Whether a ruleset may have a prompt of its own. */
  readonly ownPrompts: boolean;
  /** The tokens at which a model server is asked to stop. */
  readonly stops: Readonly<Record<Template, readonly string[]>>;
};

/** The text rules of logic 4. */
export const TEXT_RULES: TextRules = {
  read: readModelText,
  clean: cleanText,
  guard: guardText,
  excerpts,
  memoryRoom: charsIn,
  members: wholeMembers,
  ownPrompts: true,
  stops: STOPS,
};

/** The text rules of logic 3, which left reasoning inside a string of an answer, and cut texts in large states shorter. */
export const TEXT_RULES_3: TextRules = {
  ...TEXT_RULES,
  ...{ read: readModelText3, clean: cleanText3, members: wholeMembers3, ownPrompts: false },
};

/** The text rules of the first two logics. */
export const TEXT_RULES_BEFORE_3: TextRules = {
  read: readModelTextBefore3,
  clean: wellFormed,
  guard: guardTextBefore3,
  excerpts: (texts) => texts.map(({ text, chars }) => cutText(text, chars)),
  memoryRoom: () => 0,
  members: (value) => value,
  ownPrompts: false,
  stops: {
    Raw: formats.Raw.stop,
    ChatML: formats.ChatML.stop,
    Llama3: formats.Llama3.stop,
    Alpaca: formats.Alpaca.stop,
  },
};
