/** How the prompts of a set differ from those of this server (docs/reference/rules/prompt.md). */

/** The parts of a prompt, in the order that they have if the set gives no other. */
export const partNames = [
  ...(['persona', 'state', 'context', 'memories', 'conversation', 'rules', 'actions'] as const),
  ...(['instructions', 'answer'] as const),
] as const;
export type PartName = (typeof partNames)[number];

/** The headings that a set may replace; `heard` and `answered` begin the lines of the conversation. */
export const promptHeadings = [
  ...(['persona', 'state', 'context', 'memories', 'conversation', 'heard', 'answered'] as const),
  ...(['rules', 'actions'] as const),
] as const;
export type PromptHeading = (typeof promptHeadings)[number];

/** The words for the ages of memories. In those of COUNTED, `{n}` is the number. */
export const ageWords = [
  ...(['now', 'minutes', 'hour', 'hours', 'day', 'days', 'week', 'weeks'] as const),
  ...(['month', 'months', 'year', 'years'] as const),
] as const;
export type AgeWord = (typeof ageWords)[number];
export const COUNTED: readonly AgeWord[] = ['minutes', 'hours', 'days', 'weeks', 'months', 'years'];
export const COUNT = '{n}';

export type OwnPrompt = {
  /** The first paragraph. */
  readonly opening?: string;
  readonly headings?: Readonly<Partial<Record<PromptHeading, string>>>;
  readonly ages?: Readonly<Partial<Record<AgeWord, string>>>;
  /** The parts that come first. The others follow in their usual order. */
  readonly order?: readonly PartName[];
  /** Lines of their own, before the form of the answer. */
  readonly instructions?: readonly string[];
  /** In place of the form of the answer. */
  readonly answer?: string;
};

/** The limits of a set's prompt: of all of it, in bytes of JSON, and of its texts, in UTF-16 units. */
export const OWN_PROMPT_BYTES = 4_096;
export const HEADING_CHARS = 100;
export const INSTRUCTIONS = 20;
export const INSTRUCTION_CHARS = 500;
