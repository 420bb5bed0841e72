import { defined } from '../../kernel/base/defined.js';
import type { NpcEvent } from '../npcs/domain/events.js';
import type { MindState } from '../npcs/domain/state.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { MAX_SOUL_LINKS } from './domain/bounds.js';
import type { SoulDocument, SoulMemory } from './domain/document.js';
import type { ImportEvent } from './domain/import-events.js';
import { broughtBy } from './domain/soul-state.js';
import { arrivalCommand, mindFold } from '../npcs/mind-fold.js';
import { type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';

/**
 * Limits of one append, in events and in bytes of JSON of their memories: an append holds 1,048,000 bytes, and each event takes at most about 700 in
 * addition to its memory, 500 of them metadata.
 */
const BATCH_EVENTS = 250;
const BATCH_BYTES = 800_000;

/** A soul on its way into a mind. `receivedAt` is the recorded time of the import. */
export type Arrival = {
  readonly tenant: string;
  readonly importId: string;
  readonly txId: string;
  readonly receivedAt: string;
  readonly soul: Omit<Extract<ImportEvent, { type: 'SoulReceived' }>['data'], 'importId'>;
};

/** The context in which a soul arrives: it is one command, whichever process runs it. */
export const arrivalContext = ({ tenant, importId }: Arrival): CommandContext => ({
  tenant,
  actor: 'system',
  commandId: arrivalCommand(importId),
  correlationId: arrivalCommand(importId),
  causationId: null,
});

const memoryArrived = (
  { id: memoryId, timestamp: storedAt, metadata, cause, player, gameTime, ...memory }: SoulMemory,
  soulId: string,
): NpcEvent => ({
  type: 'MemoryArrived',
  data: {
    ...{ memoryId, ...memory, storedAt, source: { soulId, ...cause } },
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...defined({ player, gameTime }),
  },
});

const soulArrived = ({ importId, txId, receivedAt, soul }: Arrival, document: SoulDocument): NpcEvent => {
  const { soulId, digest, root, kid, signer, copy } = soul;
  const { issuer, tenant, npcId, chain } = document.provenance;
  const link = { soulId, txId, issuer, tenant, npcId, kid, root, importedAt: receivedAt };
  return {
    type: 'SoulArrived',
    data: {
      ...{ soulId, importId, digest, copy, signer, name: document.name, ruleset: document.ruleset },
      ...broughtBy(document),
      chain: [...chain, link].slice(-MAX_SOUL_LINKS),
    },
  };
};

/** The memories from the one at `from` onwards, as many as one append holds. */
const batchOf = ({ memories, id }: SoulDocument, from: number): readonly NpcEvent[] => {
  const batch: NpcEvent[] = [];
  let bytes = 0;
  for (const memory of memories.slice(from, from + BATCH_EVENTS)) {
    bytes += jsonBytes(memory);
    if (batch.length > 0 && bytes > BATCH_BYTES) break;
    batch.push(memoryArrived(memory, id));
  }
  return batch;
};

/** The next events, given the progress of the mind. */
const nextEvents = (
  arrival: Arrival,
  document: SoulDocument,
  { revision, origin }: MindState,
): readonly NpcEvent[] | Rejection => {
  const { importId, soul } = arrival;
  if (revision < 0) {
    const { soulId, memories } = soul;
    return [{ type: 'SoulArrivalBegun', data: { soulId, importId, memories } }, ...batchOf(document, 0)];
  }
  if (origin?.importId !== importId) return new Rejection('SOUL_ALREADY_LIVE');
  if (origin.arrivedAt >= 0) return [];
  const batch = batchOf(document, origin.stored);
  return batch.length > 0 ? batch : [soulArrived(arrival, document)];
};

const arrivedAt = ({ origin }: MindState, { importId }: Arrival): number | null =>
  origin?.importId === importId && origin.arrivedAt >= 0 ? origin.arrivedAt : null;

/** The progress of an earlier attempt: the revision from which the mind exists, 'partly', or null if it has not begun. */
export const arrivedBefore = async (
  { writers }: Pick<CommandDeps, 'writers'>,
  arrival: Arrival,
): Promise<number | 'partly' | null> => {
  const { state } = await writers.current(npcStream(arrival.tenant, arrival.soul.npcId), mindFold);
  return arrivedAt(state, arrival) ?? (state.origin?.importId === arrival.importId ? 'partly' : null);
};

/**
 * Writes a soul into its mind, which has no events yet: the memories in several appends, then the event that makes all of them count. A repeat
 * continues where an earlier attempt stopped.
 * @returns the revision from which the mind exists
 * @throws Rejection SOUL_ALREADY_LIVE if another mind has this npcId; the reason of the signal; and as runCommand
 */
export const arrive = async (
  deps: CommandDeps,
  arrival: Arrival,
  document: SoulDocument,
  signal: AbortSignal,
): Promise<number> => {
  const stream = npcStream(arrival.tenant, arrival.soul.npcId);
  const by = arrivalContext(arrival);
  for (;;) {
    signal.throwIfAborted();
    const { state } = await runCommand(deps, stream, mindFold, by, (mind) => nextEvents(arrival, document, mind));
    const revision = arrivedAt(state, arrival);
    if (revision !== null) return revision;
  }
};
