import { npcEvents, type NpcEvent, type Speaker } from '../src/features/npcs/domain/events.js';
import type { UnknownEvent } from '../src/kernel/base/decoder.js';
import { isObject, type JsonObject } from '../src/kernel/base/json.js';
import { shortDigest } from '../src/kernel/crypto/sha256.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import { isNpcStream } from '../src/kernel/base/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A player whom a mind knows. One whom only contexts name is another one than a player who is told apart. */
export type PlayerRow = Speaker & {
  /** RFC 3339: when the mind first and last heard from the player. */
  readonly since: string;
  readonly lastAt: string;
  /** How many turns the player opened. */
  readonly turns: number;
  readonly stream: string;
  /** The revision of the last event of the player. */
  readonly revision: number;
};

/** The player whom the data of an event names; undefined for nobody and for a stranger. */
const playerOf = ({ player }: JsonObject): { readonly id: string; readonly from: string } | undefined => {
  if (player === undefined || !isObject(player)) return undefined;
  const { id, from } = player;
  return typeof id === 'string' && id !== '' && typeof from === 'string' ? { id, from } : undefined;
};

/** Where an event names its player: verdicts that were requested alone have what they were asked. */
const namingIn = (data: JsonObject): JsonObject => (isObject(data['asked']) ? data['asked'] : data);

type Heard = { readonly player: Speaker | undefined; readonly opens: boolean; readonly at: string };

const heardIn = (event: NpcEvent | UnknownEvent, at: string): Heard | null => {
  switch (event.type) {
    case 'TurnOpened':
    case 'DirectiveGiven':
    case 'ContextBuilt':
      return { player: event.data.player, opens: true, at };
    case 'VerdictReached':
    case 'VerdictRefused':
      return { player: event.data.asked?.player, opens: true, at };
    case 'MemoryStored':
      return { player: event.data.player, opens: false, at };
    case 'MemoryArrived':
      return { player: event.data.player, opens: false, at: event.data.storedAt };
    default:
      return null;
  }
};

const none: readonly string[] = [];

/** The players whom each mind knows, in the order in which it last heard from them. */
export const players: Projection<PlayerRow> = {
  name: 'players',
  version: 1,
  handles: [
    'TurnOpened',
    'DirectiveGiven',
    'ContextBuilt',
    'VerdictReached',
    'VerdictRefused',
    'MemoryStored',
    'MemoryArrived',
  ],
  idsOf: ({ stream, data }) => {
    const player = playerOf(namingIn(data));
    if (player === undefined || !isNpcStream(stream)) return none;
    // An id may be long, and have characters that a key may not.
    return [`${player.from === 'context' ? 'named' : 'apart'} ${shortDigest(player.id)}`];
  },
  evolve: (row, recorded) => {
    const { stream, revision, meta } = recorded;
    const heard = heardIn(npcEvents.decode(recorded), meta.at);
    if (heard?.player === undefined) return row;
    const { player, opens, at } = heard;
    const [since, lastAt] = [row?.since ?? at, row?.lastAt ?? at];
    const name = player.name ?? row?.name;
    return {
      id: player.id,
      ...(name === undefined ? {} : { name }),
      from: player.from,
      since: at < since ? at : since,
      lastAt: at > lastAt ? at : lastAt,
      turns: (row?.turns ?? 0) + (opens ? 1 : 0),
      stream,
      revision,
    };
  },
  indexOf: ({ stream, revision }) => ({ partition: stream, order: revisionOrder(revision), tag: '' }),
};
