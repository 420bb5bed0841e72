import type { DecisionInput } from './input.js';
import { type LeftOutPart, leftOutOf } from './left-out.js';
import { type PromptPart, promptTokens } from './prompt-parts.js';
import { shareOut } from './share-budget.js';
import {
  type Cut,
  cutOf,
  cutterOf,
  LEAST_TOKENS,
  leastOf,
  type Room,
  SHARES,
  tokensFrom,
  YIELDING,
} from './shown-parts.js';

/** How often all parts are cut: the counts of what is cut are not known before. */
const TRIES = 4;
/** How much less is tried again. */
const LESS = 0.95;
/** The newest exchange may take this part of the room, which is twice the share of a conversation. */
const NEWEST_PART = 2 / 5;
/** Who gets what is left over, in this order: first what only takes whole exchanges and members, then what can be cut anywhere. */
const IN_NEED = ['conversation', 'state', 'context', 'memory', 'persona'] as const;

/**
 * The room of each. Whoever would get too little for anything gives it to the others, the one with the smallest share first. But a conversation gets
 * what its newest exchange needs, if that is not too much.
 */
const roomsOf = ({ needs, least }: { readonly needs: Room; readonly least: Room }, room: number): Room => {
  const asked = new Map(YIELDING.map((of) => [of, { need: needs[of], share: SHARES[of] }]));
  let newest = 0;
  for (;;) {
    const given = shareOut(room - newest, [...asked.values()]);
    const rooms = [...asked].map(([of, { need, share }], at) => ({ of, need, share, room: given[at] ?? 0 }));
    const [lacking] = rooms
      .filter((one) => one.room < least[one.of] && one.room < one.need)
      .sort((one, other) => one.share - other.share);
    if (lacking === undefined) {
      const of = Object.fromEntries(rooms.map((one) => [one.of, one.room]));
      return { ...{ persona: 0, state: 0, context: 0, memory: 0, conversation: newest }, ...of };
    }
    if (lacking.of === 'conversation' && least.conversation <= room * NEWEST_PART) newest = least.conversation;
    asked.delete(lacking.of);
  }
};

/** A prompt of the input that it shows, what it takes, and the room that it gives to each part. */
type Fitting<Built> = {
  readonly built: Built;
  readonly shown: DecisionInput;
  readonly tokens: number;
  readonly rooms: Room;
};

/** The prompt with the room shared out; with nothing that can be left out, if its other parts already take too much. */
const sharedOut = <Built>(
  cut: Cut,
  { budget, kept }: { readonly budget: number; readonly kept: number },
  drawn: (rooms: Room) => Fitting<Built>,
): Fitting<Built> => {
  const asking = { needs: cut.needs, least: leastOf(cut) };
  let room = budget - kept;
  for (let tries = 0; tries < TRIES && room > 0; tries += 1) {
    const fitting = drawn(roomsOf(asking, room));
    if (fitting.tokens <= budget) return fitting;
    room = Math.floor(room * LESS * ((budget - kept) / Math.max(fitting.tokens - kept, 1)));
  }
  return drawn(roomsOf(asking, 0));
};

/** The prompt with what is left over given to the parts that do not fit, one after the other: members and sentences seldom fill their room. */
const filledUp = <Built extends { readonly parts: readonly PromptPart[] }>(
  cut: Cut,
  { budget, fitting }: { readonly budget: number; readonly fitting: Fitting<Built> },
  drawn: (rooms: Room) => Fitting<Built>,
): Fitting<Built> => {
  let best = fitting;
  for (const of of IN_NEED) {
    const taken = tokensFrom(best.built.parts)[of];
    const left = budget - best.tokens;
    if (taken >= cut.needs[of] || left < LEAST_TOKENS) continue;
    // What is cut is only about as long as its room.
    for (const extra of [left, left * LESS - LEAST_TOKENS / 2]) {
      const next = drawn({ ...best.rooms, [of]: Math.floor(taken + extra) });
      if (next.tokens > budget) continue;
      if (next.tokens > best.tokens) best = next;
      break;
    }
  }
  return best;
};

/**
 * A prompt within the input's budget. The observation, the rules, the actions and the server's own words are kept. Persona, state, context,
 * memories and conversation share the room that is left, and each is shortened in its own way.
 * @param draw makes the prompt that shows an input
 */
export const withinBudget = <Built extends { readonly parts: readonly PromptPart[] }>(
  input: DecisionInput,
  draw: (shown: DecisionInput) => Built,
): Built & { readonly isShortened: boolean; readonly leftOut: readonly LeftOutPart[] } => {
  const whole = draw(input);
  const { promptBudget: budget } = input;
  const wholeTokens = promptTokens(whole.parts);
  if (budget === undefined || wholeTokens <= budget) return { ...whole, isShortened: false, leftOut: [] };
  const cut = cutOf(input, whole.parts);
  const kept = wholeTokens - YIELDING.reduce((sum, of) => sum + cut.needs[of], 0);
  const cutTo = cutterOf(cut);
  const drawn = (rooms: Room): Fitting<Built> => {
    const shown = cutTo(rooms);
    const built = draw(shown);
    return { built, shown, tokens: promptTokens(built.parts), rooms };
  };
  const fitting = sharedOut(cut, { budget, kept }, drawn);
  const shown = filledUp(cut, { budget, fitting }, drawn);
  const leftOut = leftOutOf({ parts: whole.parts, input }, { parts: shown.built.parts, input: shown.shown });
  return { ...shown.built, isShortened: shown.tokens < wholeTokens, leftOut };
};
