import { type WholeAnswers, wholeAnswersIn } from './whole-answers.js';

/** A text without the reasoning of the model that was in it, and that reasoning. */
export type Separated = { readonly text: string; readonly reasoning: string };

/** The names of tags around reasoning, alone or after a prefix, as in `seed:think`. Longer names come first. */
const NAMES = [
  'thinking_process',
  'thought_process',
  'chain_of_thought',
  'inner_monologue',
  'internal_monologue',
  'scratchpad',
  'reasoning',
  'reflection',
  'analysis',
  'thinking',
  'thoughts',
  'thought',
  'think',
];
const NAME = String.raw`(?:[a-z]{1,16}[:_])?(?:${NAMES.join('|')})`;
/** A tag, with its name in the first group. No space is allowed before the name: guarded text has one there, and a model may repeat it. */
const FORMS = [
  String.raw`<(\/?${NAME})(?:\s[^<>]{0,64})?\/?>`,
  // Magistral. Other words in brackets are stage directions.
  String.raw`\[(\/?think)\]`,
  // Kimi.
  String.raw`◁(\/?think)▷`,
  // OpenThinker and Command A.
  String.raw`<\|((?:begin_of|end_of|start|end)_(?:thought|thinking|think))\|>`,
  // Gemma 4 and MedGemma. Only the opening names the channel.
  String.raw`<\|channel>(thought|analysis|thinking)`,
  String.raw`<(channel\|)>`,
  String.raw`<(unused94)>thought`,
  String.raw`<(unused95)>`,
];
/** Text from outside must contain none of them. */
export const REASONING_PATTERN = FORMS.join('|').replace(/\((?!\?)/g, '(?:');
const TAGS = new RegExp(FORMS.join('|'), 'gi');
/** Each is in every text with a tag. */
export const MAY_REASON = /[<[◁][/|a-z◁]/i;

type Tag = {
  readonly at: number;
  readonly end: number;
  readonly name: string;
  /** An empty tag (`<think/>`) neither opens nor closes. */
  readonly kind: 'opens' | 'closes' | 'empty';
};

const CLOSING = /^(?:\/|end_|channel\||unused95)/;
const kindOf = (tag: string, name: string): Tag['kind'] =>
  CLOSING.test(name) ? 'closes' : tag.endsWith('/>') ? 'empty' : 'opens';

const tagsIn = (text: string): readonly Tag[] =>
  MAY_REASON.test(text)
    ? Array.from(text.matchAll(TAGS), (match) => {
        const [tag, ...groups] = match;
        const name = (groups.find((group) => (group as string | undefined) !== undefined) ?? '').toLowerCase();
        return {
          at: match.index,
          end: match.index + tag.length,
          name: name.replace(/^(?:\/|begin_of_|end_of_|start_|end_)/, ''),
          kind: kindOf(tag, name),
        };
      })
    : [];

/** For each tag the next one of its name that closes, and the next one of any name. -1: none. */
const closersOf = (tags: readonly Tag[]): readonly number[] => {
  const nextOf = new Map<string, number>();
  let next = -1;
  const found: number[] = [];
  for (let index = tags.length - 1; index >= 0; index -= 1) {
    const { name, kind } = tags[index] as Tag;
    found[index] = nextOf.get(name) ?? next;
    if (kind !== 'closes') continue;
    nextOf.set(name, index);
    next = index;
  }
  return found;
};

/**
 * Takes reasoning out of a text: from a tag that opens to the one that closes, or to the end of the text if none does; without a tag that opens,
 * everything before the one that closes. The work is linear.
 * @param answersIn what of it are answers, in which tags do not count
 */
const separated = (text: string, answersIn: (text: string) => WholeAnswers): Separated => {
  const tags = tagsIn(text);
  if (tags.length === 0) return { text, reasoning: '' };
  const closers = closersOf(tags);
  const answers = answersIn(text);
  let kept: string[] = [];
  const thought: string[] = [];
  let from = 0;
  let within = 0;
  for (const [index, { at, end, kind }] of tags.entries()) {
    if (at < from || at < within) continue;
    // A broken answer may hold a tag that opens; a tag that closes rather ends a draft.
    const around = answers.endAround(from, at, kind === 'opens');
    if (around !== -1) {
      within = around;
    } else if (kind === 'closes') {
      for (const part of kept) thought.push(part);
      thought.push(text.slice(from, at));
      kept = [];
      from = end;
    } else {
      kept.push(text.slice(from, at));
      const closer = kind === 'opens' ? tags[closers[index] ?? -1] : { at: end, end };
      thought.push(text.slice(end, closer?.at ?? text.length));
      from = closer?.end ?? text.length;
    }
  }
  kept.push(text.slice(from));
  return { text: kept.join(''), reasoning: joined(thought) };
};

/** Takes a model's reasoning out of its text. A tag within an answer is a part of what the answer says. */
export const withoutReasoning = (text: string): Separated => separated(text, wholeAnswersIn);

/** A string of an answer without the reasoning in it. */
export const withoutReasoningInside = (said: string): string => separated(said, () => ({ endAround: () => -1 })).text;

/** A text without the reasoning at its beginning, if that is closed. */
export const withoutLeadingReasoning = (said: string): string => {
  const tags = tagsIn(said);
  const closers = closersOf(tags);
  let from = 0;
  for (const [index, { at, kind }] of tags.entries()) {
    if (at < from) continue;
    const closer = kind === 'opens' ? tags[closers[index] ?? -1] : undefined;
    if (closer === undefined || said.slice(from, at).trim() !== '') break;
    from = closer.end;
  }
  return said.slice(from);
};

/** Parts of a reasoning as one text. */
export const joined = (parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n');
