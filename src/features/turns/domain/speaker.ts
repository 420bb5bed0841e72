import type { Speaker } from '../../npcs/domain/events.js';
import { STRANGER } from '../../npcs/domain/told-apart.js';
import { areSlips, type Bare, bareOf, LONGEST_NAME } from '../../../kernel/base/alike.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { isPlayerText } from '../../../kernel/base/player-text.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { areWithin } from '../../../kernel/base/slips.js';

const idIn = (value: Json | undefined): string | undefined => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return isPlayerText(value) ? value : undefined;
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
  return isPlayerText(name) ? { id, name } : { id };
};

/** The id in a percent-encoded header. Two headers arrive as one with a comma, which nothing encoded contains. */
const playerInHeader = (value: string | undefined): NamedPlayer | undefined => {
  if (value === undefined || !/^[\x20-\x2b\x2d-\x7e]+$/.test(value)) return undefined;
  try {
    const id = decodeURIComponent(value);
    return isPlayerText(id) ? { id } : undefined;
  } catch {
    return undefined;
  }
};

const playerInContext = (context: Json): NamedPlayer | undefined =>
  playerIn(isObject(context) ? context['player'] : undefined);

const PLAYER = bareOf('player');
const PLAYER_ID = bareOf('playerId');
/** Other words, and members that a game may have for itself. */
const OTHER_WORDS: readonly string[] = ['players', 'played', 'layer', 'prayer'];
/** With two other letters at its end it is another word: `playerHp`. */
const isLikePlayerId = (bare: Bare): boolean =>
  areSlips(bare, PLAYER_ID) &&
  (bare.text.endsWith('id') || bare.letters === PLAYER_ID.letters || areWithin(1, bare.text, PLAYER_ID.text));
/** How many members of a body are looked at. */
const LOOKED_AT = 1_000;

/**
 * What a body says of the player who speaks: its member `player`, or one that is called `Player` or `player_id`. What resembles it names somebody, but
 * nobody can say whom.
 */
export const playerMember = (body: Json): Json | undefined => {
  if (!isObject(body)) return undefined;
  const { player = null } = body;
  if (player !== null) return player;
  for (const member of Object.keys(body).slice(0, LOOKED_AT)) {
    const value = body[member] ?? null;
    if (value === null || value === '' || member.length > LONGEST_NAME) continue;
    const bare = bareOf(member);
    if (bare.text === PLAYER.text || bare.text === PLAYER_ID.text) return value;
    if ((areSlips(bare, PLAYER) || isLikePlayerId(bare)) && !OTHER_WORDS.includes(bare.text)) return {};
  }
  return undefined;
};

/** Where a request may name the player who speaks. */
export type NamedBy = {
  /** The player whom a token let in. */
  readonly admitted?: NamedPlayer | undefined;
  /** The members of the body, first the one that counts first. */
  readonly bodies: readonly (Json | undefined)[];
  /** `X-Player-Id`, as it was sent. */
  readonly header: string | undefined;
  readonly context: Json;
};

/** @throws Rejection PLAYER_MISMATCH if a request with a token names another player */
const requireSame = (admitted: NamedPlayer, named: readonly (NamedPlayer | undefined)[]): void => {
  const other = named.find((player) => player !== undefined && player.id !== admitted.id);
  if (other !== undefined) throw new Rejection('PLAYER_MISMATCH');
};

/**
 * Who speaks in a turn: the player of a token, who is not contradicted; otherwise the first place that names a player counts. If there is none, but a body or the header has something that cannot be read, it is a
 * stranger: nobody else's secrets are for them.
 * @throws Rejection PLAYER_MISMATCH
 */
export const whoSpeaks = ({ admitted, bodies, header, context }: NamedBy): Speaker | undefined => {
  const inBodies = bodies.map(playerIn);
  if (admitted !== undefined) {
    requireSame(admitted, [...inBodies, playerInHeader(header)]);
    const { id, name } = admitted;
    return { id, ...(name === undefined ? {} : { name }), from: 'token' };
  }
  const inBody = inBodies.find((player) => player !== undefined);
  if (inBody !== undefined) return { ...inBody, from: 'body' };
  const inHeader = playerInHeader(header);
  if (inHeader !== undefined) return { ...inHeader, from: 'header' };
  if (bodies.some((sent) => sent !== undefined && sent !== null)) return { id: STRANGER, from: 'body' };
  if (header !== undefined && header.trim() !== '') return { id: STRANGER, from: 'header' };
  const inContext = playerInContext(context);
  return inContext && { ...inContext, from: 'context' };
};
