import type { Action } from '../../rules/domain/bridge/action.js';
import type { MindEventToFold } from '../../npcs/domain/state.js';
import { type Json, jsonBytes } from '../../../kernel/base/json.js';
import { cutBytes } from '../../../kernel/base/text.js';
import { shortDigest } from '../../../kernel/crypto/sha256.js';
import {
  type Exchange,
  npcEvents,
  type NpcEvent,
  type RecalledMemory,
  type Verdict,
} from '../../npcs/domain/events.js';
import { MEMORY_BYTES } from '../../npcs/domain/recorded-bytes.js';

/** How far a lineage is followed, in memories and in steps from the first. */
export const LINEAGE_MEMORIES = 1_000;
export const LINEAGE_STEPS = 32;
/** How many turns it follows at a time: those that recalled a memory of the lineage and have not ended. */
const OPEN_TURNS = 256;
/** How many turns it knows the observations of, and how many contexts that offered a memory of the lineage: the newest. A cursor names them all. */
const NOTED = 64;
/** How long after a context a verdict on the same observation counts as a verdict on its prompt, in milliseconds: longer than a slow model takes. */
const OFFERED_MS = 600_000;
/** The approximate size of the ids and numbers of a turn or a memory, in bytes. */
const ITEM_BYTES = 200;
/** The number of recalled memories of a turn that are named: many may have the same text. */
const NAMED_BY = 16;

/** A memory of a lineage. `depth`: steps from the first one, which has 0; `by`: the ones that its turn recalled, at most NAMED_BY. */
export type Kin = {
  readonly memoryId: string;
  readonly text: string;
  readonly turnId: string | null;
  readonly revision: number;
  readonly depth: number;
  readonly by: readonly string[];
};

/** A turn that recalled the first memory, or that judged a text after a context offered it. `match`: by its id, or by its text only. */
export type RecallingTurn = {
  readonly turnId: string;
  readonly revision: number;
  readonly at: string;
  readonly similarity: number;
  readonly match: 'id' | 'text';
  readonly verdict: { readonly valid: boolean; readonly dialogue: string; readonly action: Action | null } | null;
};

type OpenTurn = {
  /** The revisions at which it recalled. */
  readonly revisions: readonly number[];
  readonly by: ReadonlySet<string>;
  /** The smallest depth of the memories that it recalled. */
  readonly depth: number;
  readonly recall: Omit<RecallingTurn, 'verdict'> | null;
};

type DataOf<Type extends NpcEvent['type']> = Extract<NpcEvent, { type: Type }>['data'];

/** What a context offered of the lineage. `heard`: the digest of its observation. */
type Offer = Omit<OpenTurn, 'revisions'> & { readonly revision: number; readonly heard: string; readonly atMs: number };

/**
 * The descendants of a memory, collected from the events after it, one at a time in order. A turn that recalled a memory of the lineage adds the
 * memories that it stores, except what it only heard: that was not inferred from anything. A verdict outside a turn goes with the contexts of its
 * observation. A text stands for all memories of the lineage that had it by then, including cleared and retracted ones: a body may still hold it.
 */
export type Lineage = {
  readonly take: (recorded: MindEventToFold) => void;
  /** The derived memories, in the order in which they were stored. */
  readonly derived: () => readonly Kin[];
  /** The turns that recalled a first memory and have ended; with `open` the others too. */
  readonly recalledBy: (open: boolean) => readonly RecallingTurn[];
  /** The revisions that a later part needs: where turns that have not ended began and recalled, and where contexts offered something. */
  readonly openAt: () => readonly number[];
  /** Whether the last event ended a turn, or stored one of its memories, and `next` belongs to it. */
  readonly goesOn: (next: MindEventToFold) => boolean;
  /** The approximate size of the derived memories and the ended turns, in bytes of JSON. */
  readonly bytes: () => number;
  /** Whether something was left out because of the limits. */
  readonly isCut: () => boolean;
};

/**
 * The memories of a lineage with one text, by ascending revision, reduced to the necessary ones: the first ones, and then each with a smaller depth
 * than all before it. Up to any revision they give the same names and the same smallest depth as the full list.
 */
const withNeeded = (kept: readonly Kin[], one: Kin): readonly Kin[] =>
  kept.length < NAMED_BY || kept.every(({ depth }) => one.depth < depth) ? [...kept, one] : kept;

const briefly = ({ valid, dialogue, action }: Verdict): NonNullable<RecallingTurn['verdict']> => ({
  ...{ valid, dialogue, action },
});

/** What a turn heard, in the form in which it is stored if the model remembers nothing else. */
const heardIn = (observation: string): string => shortDigest(cutBytes(observation.toWellFormed(), MEMORY_BYTES).trim());

/** Adds to a map that keeps the newest entries. */
const noteIn = <Value>(noted: Map<string, Value>, key: string, value: Value): void => {
  noted.delete(key);
  noted.set(key, value);
  const [oldest] = noted.keys();
  if (noted.size > NOTED && oldest !== undefined) noted.delete(oldest);
};

/**
 * @param known the first memories; in a later part of the same lineage also the memories derived so far
 * @param from the revision at which a later part begins: contexts before it are listed already
 */
export const createLineage = (known: readonly Kin[], from = 0): Lineage => {
  const kin = new Map<string, Kin>();
  const byText = new Map<string, readonly Kin[]>();
  const open = new Map<string, OpenTurn>();
  const heard = new Map<string, { readonly digest: string; readonly revision: number }>();
  const offers = new Map<string, Offer>();
  const derived: Kin[] = [];
  const over: RecallingTurn[] = [];
  /** The turn of the last verdict. Its memories directly follow it. */
  let ended: string | null = null;
  let isCut = false;
  let bytes = 0;

  const byTurn = new Map<string, readonly Kin[]>();
  const add = (one: Kin): void => {
    kin.set(one.memoryId, one);
    if (one.turnId !== null) byTurn.set(one.turnId, [...(byTurn.get(one.turnId) ?? []), one]);
    byText.set(one.text, withNeeded(byText.get(one.text) ?? [], one));
  };
  for (const one of known.toSorted((left, right) => left.revision - right.revision)) add(one);

  const meant = ({ memoryId, text }: RecalledMemory, revision: number): readonly Kin[] => {
    const named = memoryId === undefined ? (byText.get(text) ?? []) : [kin.get(memoryId)];
    return named.filter((one) => one !== undefined && one.revision < revision) as readonly Kin[];
  };

  const recalled = (
    turnId: string,
    memories: readonly RecalledMemory[],
    { revision, meta }: MindEventToFold,
    conversation: readonly Exchange[] = [],
  ): void => {
    const before = open.get(turnId);
    const by = new Set(before?.by);
    let { depth, recall } = before ?? { depth: Infinity, recall: null };
    // The words of an exchange were in the prompt, whether or not they were recalled.
    for (const one of conversation.flatMap((exchange) => byTurn.get(exchange.turnId) ?? [])) {
      if (by.size < NAMED_BY) by.add(one.memoryId);
      depth = Math.min(depth, one.depth);
    }
    const texts = new Set<string>();
    for (const memory of memories) {
      // A repeated text means the same memories.
      if (memory.memoryId === undefined && texts.size === texts.add(memory.text).size) continue;
      for (const one of meant(memory, revision)) {
        if (by.size < NAMED_BY) by.add(one.memoryId);
        depth = Math.min(depth, one.depth);
        const match = memory.memoryId === undefined ? 'text' : 'id';
        if (one.depth === 0) recall ??= { turnId, revision, at: meta.at, similarity: memory.similarity, match };
      }
    }
    if (by.size === 0) return;
    if (by.size === before?.by.size && depth === before.depth && recall === before.recall) return;
    if (before === undefined && open.size >= OPEN_TURNS) isCut = true;
    else open.set(turnId, { revisions: [...(before?.revisions ?? []), revision], by, depth, recall });
  };

  const end = (turnId: string, verdict: RecallingTurn['verdict']): void => {
    const turn = open.get(turnId);
    if (turn === undefined) {
      heard.delete(turnId);
      return;
    }
    if (turn.recall !== null) {
      over.push({ ...turn.recall, verdict });
      bytes += ITEM_BYTES + jsonBytes(verdict as Json);
    }
    open.set(turnId, { ...turn, recall: null });
    ended = turnId;
  };

  const offer = ({ turnId, observation, memories }: DataOf<'ContextBuilt'>, recorded: MindEventToFold): void => {
    recalled(turnId, memories, recorded);
    const turn = open.get(turnId);
    if (turn === undefined) return;
    const { revision, meta } = recorded;
    noteIn(offers, turnId, { ...turn, revision, heard: heardIn(observation), atMs: Date.parse(meta.at) });
    if (revision < from) open.set(turnId, { ...turn, recall: null });
  };

  /** A verdict outside a turn: it judges a text that a prompt with these offers may have led to. */
  const judged = (turnId: string, observation: string, { revision, meta }: MindEventToFold): void => {
    const digest = heardIn(observation);
    const recent = [...offers.values()].filter(({ atMs }) => Date.parse(meta.at) - atMs <= OFFERED_MS);
    const newest = observation.trim() === '' ? recent.at(-1) : undefined;
    const meant = recent.filter((one) => one.heard === digest || one === newest);
    if (meant.length === 0) return;
    if (open.size >= OPEN_TURNS) {
      isCut = true;
      return;
    }
    const by = new Set(meant.flatMap((one) => [...one.by]).slice(0, NAMED_BY));
    const depth = Math.min(...meant.map((one) => one.depth));
    const known = meant.find(({ recall }) => recall !== null)?.recall ?? null;
    open.set(turnId, { revisions: [], by, depth, recall: known && { ...known, turnId, revision, at: meta.at } });
    noteIn(heard, turnId, { digest, revision });
  };

  const stored = (memoryId: string, turnId: string, text: string, revision: number): void => {
    const turn = open.get(turnId);
    if (turn === undefined || kin.has(memoryId)) return;
    // What a player says again counts as derived: it is the same lie.
    if (heard.get(turnId)?.digest === shortDigest(text.trim()) && !byText.has(text)) return;
    const by = [...turn.by];
    const depth = 1 + turn.depth;
    if (kin.size >= LINEAGE_MEMORIES || depth > LINEAGE_STEPS) {
      isCut = true;
      return;
    }
    const one = { memoryId, text, turnId, revision, depth, by };
    add(one);
    derived.push(one);
    bytes += ITEM_BYTES + jsonBytes(text) + jsonBytes(by);
  };

  const take = (recorded: MindEventToFold): void => {
    if (ended !== null && recorded.data['turnId'] !== ended) {
      open.delete(ended);
      heard.delete(ended);
      ended = null;
    }
    const event = npcEvents.decode(recorded);
    switch (event.type) {
      case 'TurnOpened':
        noteIn(heard, event.data.turnId, { digest: heardIn(event.data.observation), revision: recorded.revision });
        recalled(event.data.turnId, event.data.memories ?? [], recorded, event.data.conversation);
        break;
      case 'MemoriesRecalled':
        recalled(event.data.turnId, event.data.memories, recorded);
        break;
      case 'ContextBuilt':
        offer(event.data, recorded);
        end(event.data.turnId, null);
        break;
      case 'VerdictReached':
      case 'VerdictRefused':
        if (event.data.asked !== undefined) judged(event.data.turnId, event.data.asked.observation, recorded);
        end(event.data.turnId, briefly(event.data.verdict));
        break;
      case 'TurnExpired':
      case 'TurnFailed':
        end(event.data.turnId, null);
        break;
      case 'MemoryStored':
        if (event.data.turnId !== undefined)
          stored(event.data.memoryId, event.data.turnId, event.data.text, recorded.revision);
        break;
      default:
    }
  };

  return {
    take,
    derived: () => derived,
    recalledBy: (withOpen) => {
      const still = [...open.values()].flatMap(({ recall }) => (recall === null ? [] : [{ ...recall, verdict: null }]));
      return withOpen ? [...over, ...still] : over;
    },
    openAt: () => {
      const recalls = [...open].flatMap(([turnId, { revisions }]) => (turnId === ended ? [] : revisions));
      const begun = [...heard].flatMap(([turnId, { revision }]) => (turnId === ended ? [] : [revision]));
      const offered = Array.from(offers.values(), ({ revision }) => revision);
      return [...new Set([...recalls, ...begun, ...offered])].sort((left, right) => left - right);
    },
    goesOn: ({ data }) => ended !== null && data['turnId'] === ended,
    bytes: () => bytes,
    isCut: () => isCut,
  };
};
