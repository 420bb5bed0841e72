import type { Speaker } from '../../npcs/domain/events.js';
import { isObject, type Json } from '../../../kernel/base/json.js';

/** The limit of a player's id or name, in UTF-16 units. */
const MAX_CHARS = 256;

const isName = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= MAX_CHARS &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value);

const idIn = (value: Json | undefined): string | undefined => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return isName(value) ? value : undefined;
};

type NamedPlayer = Omit<Speaker, 'from'>;

/** A player as an id or `{id, name?}`. A malformed name is left out; without an id there is no player. */
const playerIn = (value: Json | undefined): NamedPlayer | undefined => {
  if (!isObject(value)) {
    const id = idIn(value);
    return id === undefined ? undefined : { id };
  }
  const id = idIn(value['id']);
  if (id === undefined) return undefined;
  const { name } = value;
  return isName(name) ? { id, name } : { id };
};

/** The id in a percent-encoded header. Two headers arrive as one with a comma, which nothing encoded contains. */
const playerInHeader = (value: string | undefined): NamedPlayer | undefined => {
  if (value === undefined || !/^[\x20-\x2b\x2d-\x7e]+$/.test(value)) return undefined;
  try {
    const id = decodeURIComponent(value);
    return isName(id) ? { id } : undefined;
  } catch {
    return undefined;
  }
};

const playerInContext = (context: Json): NamedPlayer | undefined =>
  playerIn(isObject(context) ? context['player'] : undefined);

/** Somebody whose name cannot be read. No player has this id. */
const STRANGER = '';

/** Where a request may name the player who speaks. */
export type NamedBy = {
  /** The members of the body, first the one that counts first. */
  readonly bodies: readonly (Json | undefined)[];
  /** `X-Player-Id`, as it was sent. */
  readonly header: string | undefined;
  readonly context: Json;
};

/**
 * Who speaks in a turn: the first place that names a player counts. If there is none, but a body or the header has something that cannot be read, it is a
 * stranger: nobody else's secrets are for them.
 */
export const whoSpeaks = ({ bodies, header, context }: NamedBy): Speaker | undefined => {
  const inBody = bodies.map(playerIn).find((player) => player !== undefined);
  if (inBody !== undefined) return { ...inBody, from: 'body' };
  const inHeader = playerInHeader(header);
  if (inHeader !== undefined) return { ...inHeader, from: 'header' };
  if (bodies.some((sent) => sent !== undefined && sent !== null)) return { id: STRANGER, from: 'body' };
  if (header !== undefined && header.trim() !== '') return { id: STRANGER, from: 'header' };
  const inContext = playerInContext(context);
  return inContext && { ...inContext, from: 'context' };
};

/** Whether an id stands for a player whose name cannot be read. Two of them are never known to be the same. */
export const isStranger = (playerId: string): boolean => playerId === STRANGER;

/**
 * The id of a player who is told apart from others; undefined if nobody is. A context has always been free text, which rules read: whom it names is
 * noted, and nothing else changes.
 */
export const toldApart = (speaker: Speaker | undefined): string | undefined =>
  speaker === undefined || speaker.from === 'context' ? undefined : speaker.id;
