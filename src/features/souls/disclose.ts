import type { Sliced } from '../../kernel/base/sliced.js';
import { type Json, jsonBytes, type JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { SoulDocument } from './domain/document.js';
import { createPlayerIndex, type Player, type PlayerIndex } from './domain/player-index.js';
import {
  type AboutBy,
  aboutPlayers,
  placesInFacts,
  placesInState,
  type PlayerPlace,
  type TurnPlayers,
} from './domain/said-of-players.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { EventStore } from '../../ports/event-store.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { noteTenantPlayers } from './tenant-players.js';
import { memoryPauses } from './memory-pauses.js';

/** How many of each are listed. */
export const LISTED = { players: 1_000, memories: 10_000, places: 1_000 };
/** The limit of all names in each of those lists, in characters: a short text may mention many players whose first names are long. */
const LISTED_CHARS = 2_097_152;

/** A part of a soul and its positions that name or mention players, as JSON pointers into the part. */
type DisclosedPlaces = {
  readonly bytes: number;
  readonly items: readonly { readonly pointer: string; readonly players: readonly string[] }[];
};

/** The people whose data a soul contains; outside `players`, players are listed by their first names only. */
export type Disclosure = {
  readonly soulId: string;
  readonly npcId: string;
  readonly bytes: number;
  readonly without: readonly string[];
  readonly turns: 'read' | 'unread';
  readonly persona: { readonly bytes: number; readonly players: readonly string[] };
  readonly players: readonly {
    readonly names: readonly string[];
    readonly memories: number;
    readonly state: number;
    readonly facts: number;
  }[];
  readonly memories: {
    readonly count: number;
    readonly bytes: number;
    readonly about: number;
    readonly items: readonly {
      readonly memoryId: string;
      readonly eventId: string;
      readonly turnId: string | null;
      readonly players: readonly string[];
      readonly by: readonly AboutBy[];
    }[];
  };
  readonly state: DisclosedPlaces;
  readonly facts: DisclosedPlaces;
  readonly more?: true;
};

/** Decides for one list of names after another whether there is room for it after the earlier ones. */
const roomForNames = (): ((names: readonly string[]) => boolean) => {
  let left = LISTED_CHARS;
  return (names) => (left -= names.reduce((chars, name) => chars + name.length, 0)) >= 0;
};

const firstNames = (players: readonly Player[]): readonly string[] => players.map(({ names }) => names[0] ?? '');

/** How many of a mind's events are searched for players. */
const MAX_EVENTS_READ = 200_000;

/** The players that bodies named to a mind, and those that each of its turns named. */
export type NamedPlayers = { readonly index: PlayerIndex; readonly turns: TurnPlayers };

const noteEvent = (index: PlayerIndex, turns: Map<string, readonly Player[]>, data: JsonObject): void => {
  const named = index.note(data);
  const { turnId } = data;
  if (typeof turnId !== 'string') return;
  const before = turns.get(turnId) ?? [];
  turns.set(turnId, named.length === 0 ? before : [...new Set([...before, ...named])]);
};

/**
 * The players whom the events of a mind name, up to a revision.
 * @throws Rejection SOUL_TOO_LARGE for more events or players than are searched; the reason of the signal; what the event store throws
 */
export const namedPlayers = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
  signal?: AbortSignal,
): Promise<NamedPlayers> => {
  if (revision >= MAX_EVENTS_READ)
    throw new Rejection('SOUL_TOO_LARGE', { details: { events: revision + 1, eventsLimit: MAX_EVENTS_READ } });
  const index = createPlayerIndex();
  const turns = new Map<string, readonly Player[]>();
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from: 0, to: revision })) {
    signal?.throwIfAborted();
    for (const { data } of page.events) noteEvent(index, turns, data);
  }
  return { index, turns };
};

export type DiscloseDeps = {
  readonly events: Pick<EventStore, 'read' | 'lastPosition'>;
  readonly readModels: Pick<ReadModels, 'list' | 'reachedPosition'>;
};

/** The turns of the mind itself, if they are available; the names in the soul are added. */
const namesFor = async (
  deps: DiscloseDeps,
  soul: SoulDocument,
  isOwn: boolean,
): Promise<NamedPlayers & { readonly turnsRead: boolean }> => {
  const { tenant, npcId, revision } = soul.provenance;
  const turnsRead = isOwn && revision < MAX_EVENTS_READ;
  const named = turnsRead
    ? await namedPlayers(deps.events, npcStream(tenant, npcId), revision)
    : { index: createPlayerIndex(), turns: new Map<string, readonly Player[]>() };
  named.index.note(soul.state);
  named.index.note(soul.facts ?? {});
  const { persona, state, facts = {}, memories } = soul;
  const values: readonly Json[] = [persona, state, facts, ...(memories as unknown as readonly Json[])];
  if (isOwn) await noteTenantPlayers(deps, tenant, values, named.index);
  return { ...named, turnsRead };
};

/** The places that a disclosure lists. */
const listed = (places: readonly PlayerPlace[]): DisclosedPlaces['items'] => {
  const hasRoom = roomForNames();
  return places
    .slice(0, LISTED.places)
    .map(({ pointer, players }) => ({ pointer, players: firstNames(players) }))
    .filter(({ pointer, players }) => hasRoom([pointer, ...players]));
};

function* discloseSlices(
  soul: SoulDocument,
  bytes: number,
  { index, turns, turnsRead }: NamedPlayers & { readonly turnsRead: boolean },
): Sliced<Disclosure> {
  const { memories, persona, state, facts = {} } = soul;
  const sizes: number[] = [];
  const isPauseDue = memoryPauses();
  for (const memory of memories) {
    const size = jsonBytes(memory);
    sizes.push(size);
    index.note(memory.metadata);
    if (isPauseDue(size)) yield size;
  }
  const counts = new Map<Player, { memories: number; state: number; facts: number }>();
  const count = (players: readonly Player[], what: 'memories' | 'state' | 'facts' | null): void => {
    for (const player of players) {
      const counted = counts.get(player) ?? { memories: 0, state: 0, facts: 0 };
      counts.set(player, counted);
      if (what !== null) counted[what] += 1;
    }
  };
  yield 0;
  const places = placesInState(state, index);
  const stateBytes = jsonBytes(state);
  yield stateBytes;
  for (const { players } of places) count(players, 'state');
  const factPlaces = placesInFacts(facts, index);
  const factsBytes = jsonBytes(facts);
  yield factsBytes;
  for (const { players } of factPlaces) count(players, 'facts');
  const ofPersona = index.spokenOf(persona);
  count(ofPersona, null);
  let [memoryBytes, about] = [0, 0];
  const items: Disclosure['memories']['items'][number][] = [];
  const hasRoom = roomForNames();
  for (const [place, memory] of memories.entries()) {
    const size = sizes[place] ?? 0;
    memoryBytes += size;
    const { players, by } = aboutPlayers(memory, index, turns);
    count(players, 'memories');
    if (players.length > 0) about += 1;
    const { id: memoryId, cause } = memory;
    const { eventId, turnId } = cause;
    const names = firstNames(players);
    if (players.length > 0 && items.length < LISTED.memories && hasRoom(names))
      items.push({ memoryId, eventId, turnId, players: names, by });
    if (isPauseDue(size)) yield size;
  }
  const hasPlayerRoom = roomForNames();
  const players = Array.from(counts, ([{ names }, counted]) => ({ names, ...counted }))
    .slice(0, LISTED.players)
    .filter(({ names }) => hasPlayerRoom(names));
  const [listedPlaces, listedFacts] = [listed(places), listed(factPlaces)];
  const isCut =
    counts.size > players.length ||
    about > items.length ||
    places.length > listedPlaces.length ||
    factPlaces.length > listedFacts.length;
  return {
    soulId: soul.id,
    npcId: soul.npcId,
    bytes,
    without: soul.without ?? [],
    turns: turnsRead ? 'read' : 'unread',
    persona: { bytes: Buffer.byteLength(persona), players: firstNames(ofPersona) },
    players,
    memories: { count: memories.length, bytes: memoryBytes, about, items },
    state: { bytes: stateBytes, items: listedPlaces },
    facts: { bytes: factsBytes, items: listedFacts },
    ...(isCut ? { more: true } : {}),
  };
}

/**
 * Whose data a soul contains. Yields to other work in between.
 * @param bytes of the soul's JCS form
 * @param isOwn whether the soul is from the caller's own mind on this server, whose events may be read
 * @throws Rejection SOUL_TOO_LARGE for more players than are distinguished, READ_MODEL_BEHIND; what the ports throw
 */
export const disclose = async (
  deps: DiscloseDeps,
  soul: SoulDocument,
  bytes: number,
  isOwn: boolean,
): Promise<Disclosure> => inSlices(discloseSlices(soul, bytes, await namesFor(deps, soul, isOwn)));
