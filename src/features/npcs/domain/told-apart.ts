import type { Speaker } from './events.js';

/** Somebody whose name cannot be read. No player has this id. */
export const STRANGER = '';

/** Whether an id stands for a player whose name cannot be read. Two of them are never known to be the same. */
export const isStranger = (playerId: string): boolean => playerId === STRANGER;

/**
 * The id of a player who is told apart from others; undefined if nobody is. A context has always been free text, which rules read: whom it names is
 * noted, and nothing else changes.
 */
export const toldApart = (speaker: Speaker | undefined): string | undefined =>
  speaker === undefined || speaker.from === 'context' ? undefined : speaker.id;
