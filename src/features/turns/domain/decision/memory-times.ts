import { gameSecondsBetween, type GameTime, TIMELESS_TYPE } from '../../../npcs/domain/game-time.js';
import type { RecalledMemory } from '../../../npcs/domain/events.js';
import type { OwnPrompt } from '../../../rules/domain/prompt/own-prompt.js';
import { ageInWords } from './memory-age.js';

type Timed = Pick<RecalledMemory, 'type' | 'storedAt' | 'gameTime'>;

/** Only a recall of this server says when its memories were stored: those of bodies have neither an age nor another order. */
const storedMs = ({ type, storedAt }: Timed): number | null =>
  storedAt === undefined || type === TIMELESS_TYPE ? null : Date.parse(storedAt);

/** Memories in the order of a prompt: first those without a time, then the others, newest last. */
export const newestLast = <Memory extends Timed>(memories: readonly Memory[]): readonly Memory[] =>
  memories
    .map((memory) => ({ memory, ms: storedMs(memory) ?? -Infinity }))
    .sort((one, other) => (one.ms === other.ms ? 0 : one.ms - other.ms))
    .map(({ memory }) => memory);

/** The times of a prompt: when its turn was opened, and the clock of the game, if it has one. */
export type PromptTimes = {
  readonly promptAt: string | undefined;
  readonly gameTime: GameTime | undefined;
};

/** How old a memory is, in words; null if nobody knows. Where the game has a clock, only that counts. */
export const ageOf = (memory: Timed, { promptAt, gameTime }: PromptTimes, words?: OwnPrompt['ages']): string | null => {
  const ms = storedMs(memory);
  if (ms === null) return null;
  if (gameTime !== undefined) {
    const seconds = memory.gameTime === undefined ? null : gameSecondsBetween(memory.gameTime, gameTime);
    return seconds === null ? null : ageInWords(seconds, words);
  }
  return promptAt === undefined ? null : ageInWords((Date.parse(promptAt) - ms) / 1_000, words);
};
