import type { CommandContext } from '../../kernel/base/command-context.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { makeProcessId } from '../../kernel/crypto/process-id.js';
import { isRejectionCode, Rejection, type RejectionCode } from '../../kernel/base/rejection.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';
import { archiveUnavailable } from '../../ports/archive-unavailable.js';
import { defined } from '../../kernel/base/defined.js';
import type { LeftOut } from './domain/document.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef, StepAnswer } from '../../ports/process-runtime.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import {
  soulExport,
  type SoulExportAnswer,
  type SoulExportInput,
  type SoulExportState,
} from '../../../workflows/soul-export.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { type SharedOutcomeDeps, outcomeWithin } from '../../kernel/processes/shared-outcome.js';
import { earlierProcess } from '../../kernel/streams/earlier-process.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { streamEnd } from '../../kernel/streams/stream-end.js';
import type { ArchiveGrant } from './archive-grant.js';
import { openExport } from './open-export.js';
import { requireWaitingRoom } from './waiting-room.js';

export type ExportDeps = {
  readonly runtime: ProcessRuntime;
  readonly waits: SharedOutcomeDeps['waits'];
  readonly repository: ProcessRepository;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Clock;
  readonly archive: Pick<SoulArchive, 'stagedBytes'>;
  /** Serialises the requests for one mind. */
  readonly mutex: KeyedMutex;
  /** How long a client may take between the phases, in milliseconds (ANIMA_SOUL_DEADLINE_MS). */
  readonly soulDeadlineMs: number;
};

/** A mind to export, and who uploads it to an archive. */
export type ExportRequest = {
  readonly stream: string;
  readonly npcState: JsonObject;
  readonly persona?: string;
  readonly includeMemories: boolean;
  readonly without?: readonly LeftOut[];
  readonly uploadedBy: 'client' | 'server';
  readonly storage?: 'ipfs';
  readonly format?: 'binary';
  readonly by: CommandContext;
  readonly keyed: boolean;
  readonly resumed: boolean;
};

/** An export, with the end of the mind's stream at that moment. */
export type ExportOutcome = Pick<StepAnswer, 'revision' | 'position'> & { readonly export: SoulExportAnswer };

/** How long a request waits for a soul to be sealed, in milliseconds: clients give up after 15 s. */
const SEALING_MS = 12_000;

export const exportRef = (stream: string, soulId: string): ProcessRef => ({
  process: soulExport.name,
  id: soulId,
  stream,
});

/** Raises the failure of an export that has failed or expired. */
const requireWell = ({ name, failure }: SoulExportAnswer): void => {
  if (name === 'expired') throw new Rejection('SOUL_EXCHANGE_EXPIRED');
  if (failure === undefined) return;
  throw new Rejection(isRejectionCode(failure.code) ? failure.code : 'SOUL_UPLOAD_FAILED', {
    details: { reason: failure.reason, ...failure.details },
  });
};

/**
 * Begins an export, or joins an open one for the same request, and waits until its soul is sealed and, where this server does so, kept. The export
 * continues if its caller leaves.
 * @throws Rejection EVENTS_TOO_LARGE, SOULS_WAITING, BUSY, SOUL_TOO_LARGE, CHAIN_BROKEN, ENGINE_UNAVAILABLE if it is not sealed in time, ARCHIVE_UNAVAILABLE if it
 * is not kept in time, and as ProcessRuntime.ask
 */
export const beginExport = async (deps: ExportDeps, asked: ExportRequest): Promise<ExportOutcome> => {
  const { runtime, clock } = deps;
  const { stream, by, npcState, persona, includeMemories, without, uploadedBy, storage, format } = asked;
  await takeRecordable([npcState, persona ?? null]);
  const { id: earlier, searchedTo } = await earlierProcess(deps, 'soulId', asked, mindFold);
  const place = { uploadedBy, ...defined({ storage, format }) };
  const request = { npcState, ...defined({ persona, without }), includeMemories, ...place };
  // Of equal concurrent requests the first begins an export, which the others join.
  const soulId = await deps.mutex.runExclusive(stream, async () => {
    const revision = searchedTo ?? (await deps.writers.current(stream, mindFold)).revision;
    const joined = earlier === null ? await openExport(deps, stream, request, revision) : null;
    if (joined !== null) return joined;
    if (earlier === null) await requireWaitingRoom(deps.archive, by.tenant);
    const nowMs = clock.now().getTime();
    const id = earlier ?? makeProcessId('s', revision, nowMs, by.commandId);
    const deadlineAt = new Date(nowMs + deps.soulDeadlineMs).toISOString();
    const input = { type: 'request', soulId: id, ...request, deadlineAt } satisfies SoulExportInput;
    await runtime.ask(exportRef(stream, id), [input], by);
    return id;
  });
  const ref = exportRef(stream, soulId);
  const outcome = await outcomeWithin(deps, ref, by, SEALING_MS);
  if (outcome === null) {
    if (storage === 'ipfs' && (await sealedDigest(deps, ref)) !== null) throw archiveUnavailable(storage);
    throw new Rejection('ENGINE_UNAVAILABLE', {
      message: 'The soul is not sealed yet. The export continues; send the same request again.',
      details: { soulId },
      retryAfter: 1,
    });
  }
  return { ...wellOutcome(outcome), ...(await streamEnd(deps.events, stream)) };
};

/**
 * The sealed payload of an export, for a repeat of the request that began it.
 * @throws Rejection SOUL_EXPORT_NOT_FOUND, SOUL_EXCHANGE_EXPIRED, the reason of its failure; what the event store throws
 */
export const sealedExport = async (
  { repository, clock }: Pick<ExportDeps, 'repository' | 'clock'>,
  ref: ProcessRef,
): Promise<SoulExportAnswer> => {
  const state = (await repository.load(soulExport, ref)).state as SoulExportState;
  if (state.name === 'new') throw new Rejection('SOUL_EXPORT_NOT_FOUND');
  requireWell(state);
  const isLate = state.name !== 'exported' && Date.parse(state.deadlineAt) <= clock.now().getTime();
  // Its timer may also be late.
  if (isLate) throw new Rejection('SOUL_EXCHANGE_EXPIRED');
  return state;
};

/**
 * Whether an upload may still publish what an export has sealed: not if the export has failed or expired.
 * Propagates errors from the event store.
 */
export const mayUpload = async (
  { repository }: Pick<ExportDeps, 'repository'>,
  { tenant, npcId, soulId, digest }: ArchiveGrant,
): Promise<boolean> => {
  const { state } = await repository.load(soulExport, exportRef(npcStream(tenant, npcId), soulId));
  const { name, seal } = state as SoulExportState & { readonly seal?: { readonly digest: string } };
  return (name === 'sealed' || name === 'exported') && seal?.digest === digest;
};

/**
 * The digest of the payload that an export has sealed; null if it has sealed none.
 * @throws Rejection SOUL_EXPORT_NOT_FOUND; what the event store throws
 */
export const sealedDigest = async (
  { repository }: Pick<ExportDeps, 'repository'>,
  ref: ProcessRef,
): Promise<string | null> => {
  const state = (await repository.load(soulExport, ref)).state as SoulExportState;
  if (state.name === 'new') throw new Rejection('SOUL_EXPORT_NOT_FOUND');
  return state.seal?.digest ?? null;
};

/**
 * Ends an export with the client's report of the upload. The same payload gets the first answer again.
 * @throws Rejection SOUL_EXPORT_NOT_FOUND, SOUL_PAYLOAD_MISMATCH, SOUL_UPLOAD_FAILED, SOUL_EXCHANGE_EXPIRED, and as ProcessRuntime.ask
 */
export const endExport = async (
  { runtime }: Pick<ExportDeps, 'runtime'>,
  ref: ProcessRef,
  input: Extract<SoulExportInput, { type: 'uploaded' | 'failed' }>,
  by: CommandContext,
): Promise<ExportOutcome> => wellOutcome(await runtime.ask(ref, [input], by));

/** The codes of exports whose soul will not be uploaded. */
const NEVER_UPLOADED: readonly string[] = [
  'SOUL_UPLOAD_FAILED',
  'SOUL_EXCHANGE_EXPIRED',
] satisfies readonly RejectionCode[];

/**
 * Ends an export whose client could not upload the soul, and drops what was sealed, because no upload will follow. A soul that was already exported
 * stays exported.
 * @throws Rejection SOUL_UPLOAD_FAILED, and as `endExport`; errors from the archive
 */
export const giveUpExport = async (
  deps: Pick<ExportDeps, 'runtime'> & { readonly archive: Pick<SoulArchive, 'unstage'> },
  ref: ProcessRef,
  { digest, reason }: { readonly digest: string; readonly reason: string },
  by: CommandContext,
): Promise<ExportOutcome> => {
  try {
    return await endExport(deps, ref, { type: 'failed', code: 'SOUL_UPLOAD_FAILED', reason }, by);
  } catch (error) {
    if (error instanceof Rejection && NEVER_UPLOADED.includes(error.code)) await deps.archive.unstage(digest, by);
    throw error;
  }
};

const wellOutcome = ({ answer, revision, position }: StepAnswer): ExportOutcome => {
  const ended = answer as SoulExportAnswer | undefined;
  if (ended === undefined) throw new Rejection('SOUL_EXPORT_NOT_FOUND');
  requireWell(ended);
  return { export: ended, revision, position };
};
