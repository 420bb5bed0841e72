import { defined } from '../../../kernel/base/defined.js';
import { jsonBytes, type JsonObject } from '../../../kernel/base/json.js';
import { cutJsonText } from '../../../kernel/base/text.js';
import type { Exchange, Verdict } from '../../npcs/domain/events.js';

/** What was said before a turn, as the opening of the turn records it: a prompt shows it, and a replay builds that prompt again from the record. */

/** The limits of a conversation and of its parts, in bytes of JSON. */
export const CONVERSATION_BYTES = 24_000;
export const HEARD_BYTES = 4_000;
const DIALOGUE_BYTES = 4_000;
const ACTION_BYTES = 1_000;
const CHANGE_BYTES = 1_000;
const TARGET_BYTES = 200;

const actionShown = (action: NonNullable<Verdict['action']>): JsonObject => {
  const { type, target = '', payload } = action;
  const shown = { type, target, ...defined({ payload }) };
  if (jsonBytes(shown) <= ACTION_BYTES) return shown;
  return { type: cutJsonText(type, TARGET_BYTES), target: cutJsonText(target, TARGET_BYTES) };
};

/** A verdict as the NPC could have written it. Parts that are too long are cut, or left out whole. */
const answerOf = ({ valid, dialogue, action, stateDelta }: Verdict): JsonObject => {
  const said = { dialogue: cutJsonText(dialogue, DIALOGUE_BYTES) };
  // What the player heard instead; the refused action is not an example to follow.
  if (!valid || action === null) return said;
  return { ...said, action: actionShown(action), stateDelta: jsonBytes(stateDelta) <= CHANGE_BYTES ? stateDelta : {} };
};

/** A turn that has its verdict, as later turns see it. */
export const exchangeOf = (turnId: string, observation: string, verdict: Verdict): Exchange => ({
  turnId,
  heard: cutJsonText(observation.toWellFormed(), HEARD_BYTES),
  answered: answerOf(verdict),
});

/** A turn that has its verdict: when it began and ended, in milliseconds since the epoch. */
export type Spoken = { readonly beganMs: number; readonly endedMs: number };

/** The turns of one conversation up to now, newest first: it ends where the NPC was left alone for longer than `pauseMs`. */
export const unbroken = <Turn extends Spoken>(
  newestFirst: readonly Turn[],
  nowMs: number,
  { exchanges, pauseMs }: { readonly exchanges: number; readonly pauseMs: number },
): readonly Turn[] => {
  let laterMs = nowMs;
  const broken = newestFirst.findIndex(({ beganMs, endedMs }) => {
    const isPause = laterMs - endedMs > pauseMs;
    laterMs = Math.min(laterMs, beganMs);
    return isPause;
  });
  return newestFirst.slice(0, Math.min(broken === -1 ? exchanges : broken, exchanges));
};

/** The newest exchanges that fit into a conversation. @param newestFirst and returns them oldest first */
export const fittingExchanges = (newestFirst: readonly Exchange[]): readonly Exchange[] => {
  let left = CONVERSATION_BYTES;
  const over = newestFirst.findIndex((exchange) => (left -= jsonBytes(exchange)) < 0);
  return newestFirst.slice(0, over === -1 ? newestFirst.length : over).reverse();
};
