import { isDeepStrictEqual } from 'node:util';

import { rebuild } from '../../src/kernel/read-models/rebuild.js';
import { isNpcStream, npcStream } from '../../src/kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import type { ReadModels } from '../../src/ports/read-models.js';
import { openState } from '../../src/kernel/streams/sealed-snapshot.js';
import { snapshotSeals } from '../support/seals.js';
import type { Snapshots } from '../../src/ports/snapshots.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { projections } from '../../projections/registry.js';
import { breaksIn } from '../support/chains.js';
import { ManualClock } from '../support/manual-clock.js';
import { MemoryReadModels } from '../support/memory/read-models.js';
import { TENANT } from './server.js';
import type { Acknowledged, Witness } from './witness.js';

/** More events, and more rows, than any simulation writes. */
const ALL_EVENTS = 100_000;
const ALL_ROWS = 10_000;

export type Settled = {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly snapshots: Snapshots;
};

/** Checks the invariants once everything has settled; returns the violations. */
export const violationsOf = async (
  { store, readModels, snapshots }: Settled,
  witness: Witness,
): Promise<readonly string[]> => {
  const all = await store.readAll(0, ALL_EVENTS);
  const streams = new Map<string, RecordedEvent[]>();
  for (const event of all) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
  return [
    ...(await breaksIn(store)),
    ...[...streams].flatMap(([stream, events]) => doubled(stream, events, witness.mayExpire.size > 0)),
    ...witness.acks.flatMap((ack) => lost(ack, streams, witness.mayRecur(ack))),
    ...[...witness.hashes].flatMap(([npcId, shown]) => replaced(npcId, shown, streams)),
    ...(await store.openProcesses()).map(({ id, stream }) => `the turn ${id} in ${stream} is still open`),
    ...(await unlikeRebuild(store, readModels, [...streams.keys()])),
    ...(await unlikeFold(snapshots, streams)),
  ];
};

/** What one command, one turn or one line of a body recorded twice. */
const doubled = (stream: string, events: readonly RecordedEvent[], mayExpire: boolean): readonly string[] => {
  const seen = new Map<string, number>();
  const found: string[] = [];
  for (const { type, data, meta, revision } of events) {
    const memory = typeof data['memoryId'] === 'string' ? [data['memoryId']] : [];
    // A contradiction of the tape may be reported once per round.
    // A step whose turn has expired in the meantime opens the next one when it is repeated.
    const turn = mayExpire && typeof data['turnId'] === 'string' ? [data['turnId']] : [];
    const names = type === 'TapeMismatchNoticed' ? [] : [['command', meta.commandId, type, ...memory, ...turn]];
    if (typeof data['turnId'] === 'string' && type !== 'TapeMismatchNoticed')
      names.push(['turn', data['turnId'], type, ...memory]);
    if (typeof data['resumedFrom'] === 'string') names.push(['successor of', data['resumedFrom']]);
    for (const name of names.map((parts) => parts.join(' '))) {
      const first = seen.get(name);
      if (first !== undefined) found.push(`${stream}: ${name} stands at ${String(first)} and at ${String(revision)}`);
      seen.set(name, revision);
    }
  }
  return found;
};

/** Acknowledged events that are missing in the store, or exist more than once. */
const lost = (
  { npcId, marker, types, reply, request }: Acknowledged,
  streams: ReadonlyMap<string, readonly RecordedEvent[]>,
  mayRecur: boolean,
): readonly string[] => {
  const events = npcId === null ? [...streams.values()].flat() : (streams.get(npcStream(TENANT, npcId)) ?? []);
  const revision = Number(reply.headers['anima-revision'] ?? -1);
  if (npcId !== null && events.length <= revision)
    return [`${request.path} "${marker}" was acknowledged at ${String(revision)}, which does not stand`];
  if (types.length === 0) return [];
  const said = JSON.stringify(marker);
  const standing = events.filter(({ type, data }) => types.includes(type) && JSON.stringify(data).includes(said));
  if (mayRecur && standing.length > 1) return [];
  if (standing.length !== 1)
    return [`${request.path} "${marker}" was acknowledged and stands ${String(standing.length)} times`];
  const turnId = turnIdOf(reply.body);
  const recorded = standing[0]?.data['turnId'];
  return turnId === undefined || turnId === recorded
    ? []
    : [`${request.path} "${marker}" was told ${turnId}, and ${JSON.stringify(recorded)} stands`];
};

const turnIdOf = (body: {
  readonly turnId?: string;
  readonly tape?: { readonly turnId?: string };
}): string | undefined => body.turnId ?? body.tape?.turnId;

/** Events that a history showed and the store no longer has. */
const replaced = (
  npcId: string,
  shown: ReadonlyMap<number, string>,
  streams: ReadonlyMap<string, readonly RecordedEvent[]>,
): readonly string[] => {
  const events = streams.get(npcStream(TENANT, npcId)) ?? [];
  return [...shown].flatMap(([revision, hash]) =>
    events[revision]?.meta.hash === hash
      ? []
      : [`revision ${String(revision)} of ${npcId} was shown with another hash than it has`],
  );
};

const unlikeRebuild = async (
  store: EventStore,
  readModels: ReadModels,
  streams: readonly string[],
): Promise<readonly string[]> => {
  const clock = new ManualClock();
  const rebuilt = new MemoryReadModels(clock);
  await rebuild({ events: store, writer: rebuilt, clock }, projections);
  const found: string[] = [];
  for (const projection of projections) {
    for (const partition of [TENANT, ...streams]) {
      const query = { partition, direction: 'ascending', limit: ALL_ROWS } as const;
      const [rows, expected] = [await readModels.list(projection, query), await rebuilt.list(projection, query)];
      if (!isDeepStrictEqual(rows, expected))
        found.push(`the read model ${projection.name} of ${partition} is not as a rebuild makes it`);
    }
  }
  return found;
};

/** Snapshots that differ from the fold of the stream's events: everything saved was durable. */
const unlikeFold = async (
  snapshots: Snapshots,
  streams: ReadonlyMap<string, readonly RecordedEvent[]>,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const [stream, events] of streams) {
    let state = mindFold.initial;
    for (const event of events.filter(() => isNpcStream(stream))) {
      state = mindFold.evolve(state, event);
      const { revision, meta } = event;
      const saved = await snapshots.latest(stream, mindFold.snapshots?.version ?? 0, { revision });
      if (saved?.revision !== revision) continue;
      const opened = openState(snapshotSeals, saved);
      const isWhole = opened !== null && opened !== 'changed';
      if (!isWhole || saved.hash !== meta.hash || !isDeepStrictEqual(JSON.parse(opened.state), state))
        found.push(`the snapshot of ${stream} at ${String(revision)} is not what its events make`);
    }
  }
  return found;
};
