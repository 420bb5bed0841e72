import { logStream, parseLogStream } from '../../kernel/base/stream-names.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { isIncluded } from '../../kernel/crypto/merkle.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { fitsItsHash } from '../../kernel/streams/event-checks.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { fromHex } from './domain/edge.js';
import { type Leaf, leafHash } from './domain/leaf.js';
import { logOf } from './domain/logged-streams.js';
import { inclusionSpans } from './domain/proofs.js';
import { type CheckpointAt, logEventOf } from './log.js';
import { openLogTree } from './log-tree.js';
import { firstRevision } from './search-stream.js';

/** How long after the first sealed event of a log older servers may still write, in milliseconds: a rolling upgrade is over then. */
const UPGRADE_MS = 24 * 60 * 60 * 1_000;

/** Up to where events without a seal count in a tenant's streams: up to a global position; in its log, up to a revision. */
export type UpgradeEnd = { readonly position: number; readonly revision: number };

type FromBeforeDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Of events. */
  readonly seals: Seals;
};

/** A head in the log, and its index. */
type LoggedHead = { readonly leaf: Leaf; readonly index: number };

const isSealed = ({ meta }: RecordedEvent): boolean => meta.mac !== undefined;
const isIntact = async (seals: Seals, event: RecordedEvent): Promise<boolean> =>
  (await fitsItsHash(event)) && seals.fits(event.meta.hash, event.meta.mac ?? '');

/** The last sealed checkpoint of the upgrade; 'open' while it has not ended, null if the log was changed. */
const closingOf = async (
  { events, clock, seals }: FromBeforeDeps,
  log: string,
): Promise<CheckpointAt | 'open' | null> => {
  const last = (await events.read(log, { direction: 'backwards', limit: 1 })).events[0];
  if (last === undefined) return 'open';
  const first = await eventAt(events, log, await firstRevision(events, log, last.revision, isSealed));
  if (first === undefined) return 'open';
  if (!(await isIntact(seals, first))) return null;
  const endMs = Date.parse(first.meta.at) + UPGRADE_MS;
  if (clock.now().getTime() < endMs) return 'open';
  const end = await firstRevision(events, log, last.revision, ({ meta }) => Date.parse(meta.at) >= endMs);
  for await (const page of pagesOf(events, log, { direction: 'backwards', from: end - 1, to: first.revision })) {
    for (const event of page.events) {
      if (event.type !== 'CheckpointSigned' || !isSealed(event)) continue;
      if (!(await isIntact(seals, event))) return null;
      const known = logEventOf(event);
      return known.type === 'CheckpointSigned' ? { ...known.data, revision: event.revision } : null;
    }
  }
  return 'open';
};

/**
 * Finds, in a store that an older version began, up to where an audit accepts events without a seal: while the upgrade has not ended, everywhere;
 * after that, up to the last checkpoint of the upgrade; nowhere if the log was changed, so that the checkpoint cannot be found.
 * @throws what the event store throws
 */
export const createUpgradeEnd =
  (deps: FromBeforeDeps) =>
  async (tenant: string): Promise<UpgradeEnd> => {
    const changed = (error: unknown): null => {
      if (error instanceof Rejection) throw error;
      return null;
    };
    const closing = await closingOf(deps, logStream(tenant)).catch(changed);
    if (closing === 'open') return { position: Infinity, revision: Infinity };
    return { position: closing?.through ?? 0, revision: closing?.revision ?? -1 };
  };

/**
 * Decides, in a store that an older version began, whether an event without a seal is from before the upgrade: a chain of hashes leads from it to a
 * head that the log held by the end of the upgrade (docs/adr/0038-seals.md), or from an event of the log to its last checkpoint of that time. Until
 * the upgrade has ended, every such event is. The caller has checked that the event fits its hash. Errors of the event store are propagated.
 */
export const createFromBefore = (deps: FromBeforeDeps): ((event: RecordedEvent) => Promise<boolean>) => {
  const { events } = deps;
  /** The head of the event's stream in the first round that went beyond it, from the batches of that round. */
  const headAfter = async (log: string, event: RecordedEvent, closing: CheckpointAt): Promise<LoggedHead | null> => {
    const through = (recorded: RecordedEvent): boolean => logEventOf(recorded).data.through >= event.position;
    const from = await firstRevision(events, log, closing.revision, through);
    for await (const page of pagesOf(events, log, { direction: 'forwards', from, to: closing.revision })) {
      for (const recorded of page.events) {
        const known = logEventOf(recorded);
        if (known.type === 'CheckpointSigned') return null;
        if (known.type !== 'LeavesLogged') continue;
        const { leaves, size } = known.data;
        const place = leaves.findIndex(({ stream, revision }) => stream === event.stream && revision >= event.revision);
        const leaf = leaves[place];
        if (leaf !== undefined) return { leaf, index: size + place };
        await yieldToEventLoop();
      }
    }
    return null;
  };
  const isIn = async (log: string, { leaf, index }: LoggedHead, closing: CheckpointAt): Promise<boolean> => {
    const { size, root } = closing;
    const path = await openLogTree(events, log, closing).roots(inclusionSpans(index, size));
    return isIncluded({ leaf: leafHash(leaf), place: index, leaves: size, path }, fromHex(root));
  };
  /** Whether the events from one on follow one another up to the head. */
  const leadsTo = async (
    { stream, revision, hash: own }: Pick<Leaf, 'stream' | 'revision' | 'hash'>,
    event: RecordedEvent,
  ): Promise<boolean> => {
    let { hash } = event.meta;
    const range = { direction: 'forwards', from: event.revision + 1, to: revision } as const;
    if (event.revision < revision) {
      for await (const page of pagesOf(events, stream, range)) {
        for (const next of page.events) {
          if (next.meta.prevHash !== hash || !(await fitsItsHash(next))) return false;
          ({ hash } = next.meta);
          await yieldToEventLoop();
        }
      }
    }
    return hash === own;
  };
  return async (event) => {
    // The metadata may be forged, so the name of the stream says whose log it is.
    const tenant = parseLogStream(event.stream) ?? logOf(event.stream)?.tenant;
    if (tenant === undefined) return false;
    const log = logStream(tenant);
    const closing = await closingOf(deps, log);
    if (closing === null || closing === 'open') return closing === 'open';
    if (event.stream === log) {
      // The log holds no head of itself: the last sealed checkpoint of the upgrade stands for it.
      const end = event.revision < closing.revision ? await eventAt(events, log, closing.revision) : undefined;
      return end !== undefined && (await leadsTo({ ...end, hash: end.meta.hash }, event));
    }
    const head = await headAfter(log, event, closing);
    return head !== null && (await isIn(log, head, closing)) && (await leadsTo(head.leaf, event));
  };
};
