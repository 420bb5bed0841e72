import { isObject, type Json, jsonBytes } from '../../../../kernel/base/json.js';
import { cutText } from '../../../../kernel/base/text.js';
import { countTokens } from '../../../../kernel/model-text/count-tokens.js';
import type { DecisionInput } from './input.js';
import { BETWEEN_TOKENS, MESSAGE_TOKENS, type PromptPart, tokensOf } from './prompt-parts.js';
import { shareOut } from './share-budget.js';
import { showsMember } from './whole-members.js';

/** What a prompt may leave out, and its share of the room that the rest leaves. */
export const SHARES = { persona: 25, state: 15, context: 15, memory: 25, conversation: 20 } as const;
export type Yielding = keyof typeof SHARES;
export const YIELDING = Object.keys(SHARES) as readonly Yielding[];
/** The room of each, in tokens. */
export type Room = Readonly<Record<Yielding, number>>;

/** What is shown of a part that does not fit is at least this long, in tokens; otherwise nothing is shown. */
export const LEAST_TOKENS = 16;
/** What is shown of a memory that does not fit is at least this long: fewer words say nothing. */
const LEAST_OF_MEMORY = 40;
const SENTENCE_END = /[.!?]["'”»)]{0,2}(?=\s)|[。！？\n]/gu;

/** What each of the parts takes. */
export const tokensFrom = (parts: readonly PromptPart[]): Room => {
  const taken = (of: Yielding): number => parts.reduce((sum, part) => sum + (part.from === of ? tokensOf(part) : 0), 0);
  return Object.fromEntries(YIELDING.map((of) => [of, taken(of)])) as Room;
};

/** What is to be cut, and what the parts of the whole prompt take. */
export type Cut = { readonly input: DecisionInput; readonly needs: Room; readonly parts: readonly PromptPart[] };

/** The memories that the whole prompt shows, no longer than there: looking through long ones takes its time, and happens once. */
const memoriesOf = ({ memories, texts, observation }: DecisionInput, parts: readonly PromptPart[]) => {
  const lines = parts.filter(({ from }) => from === 'memory');
  const lengths = new Map(lines.map(({ ref, text }) => [ref, text.length]));
  const shown = memories.slice(0, lines.length);
  const sized = shown.map(({ text, memoryId }) => ({ text, chars: lengths.get(memoryId) ?? text.length }));
  const cut = texts.excerpts(sized, observation);
  return shown.map((memory, at) => ({ ...memory, text: cut[at] ?? '' }));
};

/** What is cut of an input, whose whole prompt has these parts. */
export const cutOf = (input: DecisionInput, parts: readonly PromptPart[]): Cut => ({
  input: { ...input, memories: memoriesOf(input, parts) },
  needs: tokensFrom(parts),
  parts,
});

/** The exchanges of the whole prompt, newest first, with what each takes. */
const exchangeNeeds = ({ input, parts }: Cut): readonly number[] => {
  const tokens = new Map<string, number>();
  for (const part of parts) {
    if (part.from !== 'conversation' || part.ref === undefined) continue;
    tokens.set(part.ref, (tokens.get(part.ref) ?? 0) + tokensOf(part));
  }
  return input.conversation.map(({ turnId }) => tokens.get(turnId) ?? Infinity).reverse();
};

/** What each needs to show anything: a conversation its newest exchange. */
export const leastOf = (cut: Cut): Room => ({
  ...{ persona: LEAST_TOKENS, state: LEAST_TOKENS, context: LEAST_TOKENS, memory: LEAST_TOKENS },
  conversation: exchangeNeeds(cut)[0] ?? 0,
});

/** The beginning of a text: in whole sentences, if one ends in its second half. */
const beginning = (text: string, chars: number): string => {
  if (text.length <= chars) return text;
  const cut = cutText(text, chars);
  const ends = [...cut.matchAll(SENTENCE_END)].map(({ index, 0: mark }) => index + mark.length);
  const end = ends.findLast((at) => at > cut.length / 2 && at < cut.length);
  return end === undefined ? cut : `${cut.slice(0, end).trimEnd()}…`;
};

/** How large something may be that is shortened from `size`. */
const scaled = (size: number, room: number, need: number): number => Math.floor((size * room) / need);

const textOf = (parts: readonly PromptPart[], of: Yielding): string =>
  parts.find(({ from }) => from === of)?.text ?? '';

const shownPersona = ({ input: { persona }, needs, parts }: Cut, room: number): string | null => {
  if (persona === null || needs.persona <= room) return persona;
  return room < LEAST_TOKENS ? null : beginning(persona, scaled(textOf(parts, 'persona').length, room, needs.persona));
};

const shownValue = ({ input, needs, parts }: Cut, of: 'state' | 'context', value: Json, room: number): Json => {
  if (needs[of] <= room) return value;
  if (room < LEAST_TOKENS) return {};
  const shown = input.texts.members(value, scaled(jsonBytes(textOf(parts, of)), room, needs[of]));
  return (isObject(shown) || Array.isArray(shown)) && showsMember(shown, value) ? shown : {};
};

/** The memories that match best, each with its share of the room; those that match least are left out first. */
const shownMemories = ({ input, needs }: Cut, room: number): DecisionInput['memories'] => {
  const { memories, observation, texts } = input;
  if (needs.memory <= room) return memories;
  // What a line has beside its text.
  const besides = BETWEEN_TOKENS + MESSAGE_TOKENS;
  const ranked = memories
    .map((memory, at) => ({ memory, at, need: countTokens(memory.text) + besides }))
    .toSorted((one, other) => other.memory.similarity - one.memory.similarity || one.at - other.at);
  let left = room;
  const over = ranked.findIndex(({ need }) => (left -= Math.min(need, LEAST_OF_MEMORY)) < 0);
  // One memory alone may be shorter.
  const best = (over === -1 ? ranked : ranked.slice(0, room < LEAST_TOKENS ? over : Math.max(over, 1))).toSorted(
    (one, other) => one.at - other.at,
  );
  const rooms = shareOut(
    room,
    best.map(({ need }) => ({ need, share: 1 })),
  );
  const sized = best.map(({ memory: { text }, need }, at) => {
    const given = rooms[at] ?? 0;
    return { text, chars: given >= need ? text.length : scaled(text.length, Math.max(given - besides, 1), need) };
  });
  const cut = texts.excerpts(sized, observation);
  return best.map(({ memory }, at) => ({ ...memory, text: cut[at] ?? '' }));
};

/** The newest exchanges that fit. */
const shownConversation = (cut: Cut, room: number): DecisionInput['conversation'] => {
  const { conversation } = cut.input;
  if (cut.needs.conversation <= room) return conversation;
  let left = room;
  const over = exchangeNeeds(cut).findIndex((need) => (left -= need) < 0);
  return over === -1 ? conversation : conversation.slice(conversation.length - over);
};

/** Makes something of each room once: while one part gets more room, the others keep theirs. */
const onceForEach = <Made>(make: (room: number) => Made): ((room: number) => Made) => {
  const made = new Map<number, { readonly of: Made }>();
  return (room) => {
    const known = made.get(room) ?? { of: make(room) };
    made.set(room, known);
    return known.of;
  };
};

/** Cuts the input to what a prompt shows that gives each part this room. */
export const cutterOf = (cut: Cut): ((room: Room) => DecisionInput) => {
  const { input } = cut;
  const persona = onceForEach((room) => shownPersona(cut, room));
  const state = onceForEach((room) => shownValue(cut, 'state', input.npcState, room) as DecisionInput['npcState']);
  const context = onceForEach((room) => shownValue(cut, 'context', input.context, room));
  const memories = onceForEach((room) => shownMemories(cut, room));
  const conversation = onceForEach((room) => shownConversation(cut, room));
  return (room) => ({
    ...input,
    persona: persona(room.persona),
    npcState: state(room.state),
    context: context(room.context),
    memories: memories(room.memory),
    conversation: conversation(room.conversation),
  });
};
