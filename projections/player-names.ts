import { eachPlayerIn, type NamedPlayer } from '../src/features/npcs/domain/player-names.js';
import { tracesOf } from '../src/features/souls/domain/player-index.js';
import type { JsonObject } from '../src/kernel/base/json.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import { sha256Base64url } from '../src/kernel/crypto/sha256.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';

/** How a body named a player to a mind, once for each trace of the id and the name. */
export type PlayerNameRow = { readonly tenant: string; readonly player: NamedPlayer; readonly trace: string };

/** How many players of one event are kept: a body names a handful. An event that names more has one row with the trace `TOO_MANY` beside them. */
export const MOST_IN_ONE = 1_000;
/**
 * How many characters of the different ids and names in one event are traced, before the same happens; each counts as CHARS_AROUND more, which is its
 * cost. It is 10 ms of work that nothing else can interrupt.
 */
export const MOST_CHARS_IN_ONE = 50_000;
const CHARS_AROUND = 16;
/** No word is this, and it is among the names of no player. */
export const TOO_MANY = '*';

/** The same in every mind. */
const keyOf = ({ player: { id, name }, trace }: Omit<PlayerNameRow, 'tenant'>): string =>
  sha256Base64url(JSON.stringify([id ?? null, name ?? null, trace])).slice(0, 22);

/** Nothing distinguishes players from NPCs in a relationship, and other NPCs are not to be left out. */
const ignored = (): void => undefined;

const none: readonly string[] = [];

type PlayerNames = ReadonlyMap<string, Omit<PlayerNameRow, 'tenant'>>;

/**
 * What the game told. What players send with tokens, and what a model wrote, names nobody: otherwise a player could have anything left out of souls.
 */
const toldIn = ({ playerContext: _, ...told }: JsonObject, type: string): JsonObject =>
  type.startsWith('Verdict') ? { asked: told['asked'] ?? null } : told;

/** Another text for each way to name a player. JSON costs several times as much, and a body may name 150,000. */
const namingOf = ({ id, name }: NamedPlayer): string =>
  `${id === undefined ? '' : `${String(id.length)} ${id}`}${name === undefined ? '' : `+${name}`}`;

const namesTold = (data: JsonObject, type: string): PlayerNames => {
  const found = new Map<string, Omit<PlayerNameRow, 'tenant'>>();
  const add = (naming: Omit<PlayerNameRow, 'tenant'>): void => void found.set(keyOf(naming), naming);
  const [seen, traced] = [new Set<string>(), new Map<string, readonly string[]>()];
  let [named, chars, isOver] = [0, 0, false];
  const tracesOnce = (text: string): readonly string[] => {
    const known = traced.get(text);
    if (known !== undefined) return known;
    // One character may stand for many.
    chars += CHARS_AROUND + text.normalize('NFKC').toUpperCase().length;
    const traces = chars > MOST_CHARS_IN_ONE ? none : tracesOf(text);
    traced.set(text, traces);
    return traces;
  };
  const note = (player: NamedPlayer): void => {
    if (isOver) return;
    const key = namingOf(player);
    if (seen.has(key)) return;
    seen.add(key);
    const traces = [player.id, player.name].flatMap((text) => (text === undefined ? [] : tracesOnce(text)));
    // Nobody is found by a name that is not looked for.
    if (traces.length > 0) named += 1;
    isOver = named > MOST_IN_ONE || chars > MOST_CHARS_IN_ONE;
    if (isOver) add({ player: {}, trace: TOO_MANY });
    else for (const trace of traces) add({ player, trace });
  };
  eachPlayerIn(toldIn(data, type), note, ignored);
  return found;
};

/** Each row of an event is asked for alone. */
const known = new WeakMap<JsonObject, PlayerNames>();

const playerNamesIn = ({ data, type }: Pick<RecordedEvent, 'data' | 'type'>): PlayerNames => {
  const found = known.get(data) ?? namesTold(data, type);
  known.set(data, found);
  return found;
};

/**
 * The players whom bodies named to all minds of a tenant, found by the traces of their names in texts. Raise the version whenever `tracesOf`
 * changes.
 */
export const playerNames: Projection<PlayerNameRow> = {
  name: 'player-names',
  version: 1,
  handles: [
    ...['TurnOpened', 'DirectiveGiven', 'ContextBuilt', 'ActorIdentified', 'VerdictReached', 'VerdictRefused'],
    ...['FactsReported', 'MemoryStored', 'RecallReported', 'NpcRegistered', 'NpcUpdated'],
    ...['MemoryArrived', 'SoulArrived', 'SoulExportRequested'],
  ],
  idsOf: (event) => (isNpcStream(event.stream) ? [...playerNamesIn(event).keys()] : none),
  evolve: (row, event, id) => {
    if (row !== null) return row;
    const naming = playerNamesIn(event).get(id);
    return naming === undefined ? null : { tenant: parseNpcStream(event.stream)?.tenant ?? '', ...naming };
  },
  // Rows of several minds that name a player alike have the same place: a list needs only one of them.
  indexOf: ({ tenant, ...naming }) => ({ partition: tenant, order: keyOf(naming), tag: naming.trace }),
};
