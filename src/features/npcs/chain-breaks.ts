import { npcEvents, type NpcEvent } from './domain/events.js';
import { defined } from '../../kernel/base/defined.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { type EventChecks, isChainBroken } from '../../kernel/streams/event-checks.js';
import { type ChainBreak, breaksOf, GENESIS_HASH, storedHash } from '../../kernel/streams/hash-chain.js';
import { mindFold } from './mind-fold.js';
import { isObject } from '../../kernel/base/json.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { DECIDE_ATTEMPTS } from '../../kernel/streams/attempts.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';

/** The number of events that one look covers: one or two seconds of work. Other work runs in between. */
export const LOOK_EVENTS = 20_000;
/** A look ends after this many breaks, including those of its last event: they fit into one append of 500 events. */
export const LOOK_BREAKS = 200;

export type ChainDeps = {
  readonly events: Pick<EventStore, 'read'>;
  /** Decides which acknowledgements count. */
  readonly checks: Pick<EventChecks, 'requireGood'>;
};

/** Who acknowledged a break, when, and why if a reason was given. */
export type Acknowledgement = { readonly by: string; readonly at: string; readonly reason: string | null };

/** A break, and its acknowledgement in the stream itself; null if there is none. */
export type FoundBreak = ChainBreak & { readonly acknowledged: Acknowledgement | null };

/** The result of one look at a stream's chain. */
export type ChainLook = {
  /** The number of events that the look covered. */
  readonly events: number;
  readonly breaks: readonly FoundBreak[];
  /** The revision to continue from; absent at the end of the stream. */
  readonly next?: number;
  /** The stream's last revision when the acknowledgements were read; -1 if the stream does not exist. */
  readonly revision: number;
};

/** Two breaks are the same if they agree in every member. An acknowledged event that is changed again is a new break. */
const keyOf = ({ revision, member, stored, computed }: ChainBreak): string =>
  JSON.stringify([revision, member, stored, computed]);

/**
 * Looks for every break from the revision `from` onwards; the event before `from` is not checked. After a break it continues from the stored hash, as
 * the writer of the next event did. Yields after each event. Propagates errors from the event store.
 */
export const lookAtChain = async (deps: ChainDeps, stream: string, from: number): Promise<ChainLook> => {
  const breaks: ChainBreak[] = [];
  const before = from === 0 ? undefined : await eventAt(deps.events, stream, from - 1);
  let prevHash = before === undefined ? GENESIS_HASH : storedHash(before);
  let [events, next, last] = [0, from, -1];
  for await (const page of pagesOf(deps.events, stream, { direction: 'forwards', from }, LOOK_EVENTS)) {
    last = page.lastRevision;
    for (const event of page.events) {
      if (breaks.length >= LOOK_BREAKS) break;
      breaks.push(...(await inSlices(breaksOf(event, prevHash))));
      prevHash = storedHash(event);
      next = event.revision + 1;
      events += 1;
      await yieldToEventLoop();
    }
    if (breaks.length >= LOOK_BREAKS) break;
  }
  const known = await acknowledgedOf(deps, stream, breaks);
  return {
    events,
    breaks: known.breaks,
    ...(next <= last ? { next } : {}),
    revision: Math.max(last, known.revision),
  };
};

/**
 * Breaks of a stream, in order, with what the stream itself says of them, and the last revision that was read for it. Only what a server recorded
 * counts: anyone who can write to the store can write an acknowledgement. Propagates errors from the event store and the checks.
 */
export const acknowledgedOf = async (
  deps: ChainDeps,
  stream: string,
  breaks: readonly ChainBreak[],
): Promise<{ readonly breaks: readonly FoundBreak[]; readonly revision: number }> => {
  const first = breaks[0];
  const known = first === undefined ? nothingKnown : await acknowledged(deps, stream, first.revision + 1, breaks);
  const found = breaks.map((one) => ({ ...one, acknowledged: known.of.get(keyOf(one)) ?? null }));
  return { breaks: found, revision: known.revision };
};

type Acknowledged = { readonly of: ReadonlyMap<string, Acknowledgement>; readonly revision: number };
const nothingKnown: Acknowledged = { of: new Map(), revision: -1 };

/** Which of these breaks a stream acknowledges from a revision onwards, and the last revision that was read. */
const acknowledged = async (
  { events, checks }: ChainDeps,
  stream: string,
  from: number,
  breaks: readonly ChainBreak[],
): Promise<Acknowledged> => {
  const open = new Set(breaks.map(keyOf));
  const of = new Map<string, Acknowledgement>();
  let revision = from - 1;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from })) {
    for (const recorded of page.events) {
      const key = namedBy(recorded);
      if (key === null || !open.has(key) || !(await isGood(checks, recorded))) continue;
      const event = npcEvents.decode(recorded);
      if (event.type !== 'ChainBreakRecorded') continue;
      of.set(key, { by: recorded.meta.actor, at: recorded.meta.at, reason: event.data.reason ?? null });
      open.delete(key);
    }
    revision = page.events.at(-1)?.revision ?? revision;
  }
  return { of, revision };
};

/** The key of the break that an event names; null for all other events. */
const namedBy = ({ type, data }: RecordedEvent): string | null =>
  type === 'ChainBreakRecorded' && isObject(data) ? keyOf(data as ChainBreak) : null;

const isGood = async (checks: ChainDeps['checks'], event: RecordedEvent): Promise<boolean> => {
  if (storedHash(event) === '') return false;
  try {
    await checks.requireGood([event]);
    return true;
  } catch (error) {
    if (isChainBroken(error)) return false;
    throw error;
  }
};

/**
 * Records every break of a look that the stream does not acknowledge yet, in one append, each once. Another writer may have recorded them in the
 * meantime, so newer events are read before the next attempt.
 * @param reason what the operator says about them, if anything
 * @returns the look with everything that is acknowledged now, and the position of the append, 0 if there was none
 * @throws Rejection CONFLICT if others keep writing; propagates errors from the event store
 */
export const recordBreaks = async (
  deps: CommandDeps & ChainDeps,
  stream: string,
  context: Command,
  look: ChainLook,
  reason?: string,
): Promise<ChainLook & { readonly position: number }> => {
  let { breaks, revision } = look;
  let position = 0;
  const take = (known: Acknowledged['of']): void => {
    breaks = breaks.map((one) => ({ ...one, acknowledged: one.acknowledged ?? known.get(keyOf(one)) ?? null }));
  };
  for (let attempt = 0; breaks.some((one) => one.acknowledged === null); attempt += 1) {
    if (attempt === DECIDE_ATTEMPTS) throw new Rejection('CONFLICT', { retryAfter: 1 });
    const drafts = breaks.filter((one) => one.acknowledged === null).map((one) => recorded(one, reason));
    const decided = { here: false };
    const outcome = await runCommand(deps, stream, mindFold, context, (_, head) => {
      decided.here = head === revision;
      return decided.here ? drafts : [];
    });
    position = outcome.position;
    const since = await acknowledged(deps, stream, revision + 1, breaks);
    take(since.of);
    revision = since.revision;
    // An earlier attempt at this command has recorded its breaks. Breaks found since then belong to another command.
    if (context.done === true || (outcome.events.length > 0 && !decided.here)) break;
  }
  return { ...look, breaks, revision, position };
};

const recorded = ({ revision, member, stored, computed }: ChainBreak, reason: string | undefined): NpcEvent => ({
  type: 'ChainBreakRecorded',
  data: { revision, member, stored, computed, ...defined({ reason }) },
});
