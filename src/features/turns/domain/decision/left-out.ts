import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import type { DecisionInput } from './input.js';
import type { PromptPart } from './prompt-parts.js';
import { PART_BYTES } from './quoted.js';
import type { Yielding } from './shown-parts.js';

/** Names of members are listed up to this many. */
const NAMES = 20;

/** What a shortened prompt shows nothing of, or only in part. */
export type LeftOutPart = {
  readonly from: Yielding;
  /** How many memories, exchanges, or members of the state or the context; the persona is one. */
  readonly count: number;
  /** Whether the prompt shows a part of them. */
  readonly inPart: boolean;
  /** The first of the members. */
  readonly names?: readonly string[];
};

type Prompt = { readonly parts: readonly PromptPart[]; readonly input: DecisionInput };

const textsFrom = ({ parts }: Pick<Prompt, 'parts'>, origin: Yielding): readonly string[] =>
  parts.filter(({ from }) => from === origin).map(({ text }) => text);

/** The members of a value that are not shown, and those that are shown in part. */
const membersLeftOut = (of: 'state' | 'context', whole: Json, shown: Json): readonly LeftOutPart[] => {
  if (whole === shown) return [];
  if (!isObject(whole)) return [{ from: of, count: 1, inPart: true }];
  const members: JsonObject = isObject(shown) ? shown : {};
  const kept = Object.keys(members).filter((name) => Object.hasOwn(whole, name));
  const all = Object.keys(whole);
  const missing: string[] = [];
  for (const name of all) {
    if (missing.length === NAMES) break;
    if (!Object.hasOwn(members, name)) missing.push(name);
  }
  // What is shown whole is the same value, not a copy.
  const cut = kept.filter((name) => members[name] !== whole[name]);
  return [
    { from: of, count: all.length - kept.length, inPart: false, names: missing },
    { from: of, count: cut.length, inPart: true, names: cut.slice(0, NAMES) },
  ];
};

/**
 * What a shortened prompt leaves out of its input.
 * @param whole the prompt without a budget
 */
export const leftOutOf = (whole: Prompt, shown: Prompt): readonly LeftOutPart[] => {
  const { memories, conversation, npcState, context, texts } = whole.input;
  const [persona] = textsFrom(whole, 'persona');
  const [shownPersona] = textsFrom(shown, 'persona');
  const wholeMemories = new Set(textsFrom(whole, 'memory'));
  const shownMemories = textsFrom(shown, 'memory');
  const exchanges = new Set(shown.parts.filter(({ from }) => from === 'conversation').map(({ ref }) => ref)).size;
  const found: readonly LeftOutPart[] = [
    { from: 'persona', count: persona === shownPersona ? 0 : 1, inPart: shownPersona !== undefined },
    ...membersLeftOut('state', npcState, texts.members(shown.input.npcState, PART_BYTES)),
    ...membersLeftOut('context', context, texts.members(shown.input.context, PART_BYTES)),
    { from: 'memory', count: memories.length - shownMemories.length, inPart: false },
    { from: 'memory', count: shownMemories.filter((text) => !wholeMemories.has(text)).length, inPart: true },
    { from: 'conversation', count: conversation.length - exchanges, inPart: false },
  ];
  return found.filter(({ count }) => count > 0);
};
