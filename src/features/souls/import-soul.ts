import type { JsonObject } from '../../kernel/base/json.js';
import { makeProcessId } from '../../kernel/crypto/process-id.js';
import { isRejectionCode, Rejection, type RejectionCode } from '../../kernel/base/rejection.js';
import { importStream, npcStream } from '../../kernel/base/stream-names.js';
import { requireReport } from '../npcs/domain/decide.js';
import { DATA_BYTES, dataBytes } from '../npcs/domain/mind-data.js';
import { soulToCborSlices } from './domain/binary.js';
import type { SoulOwner } from './domain/custody.js';
import { copyId } from './domain/copy-id.js';
import type { SoulDocument } from './domain/document.js';
import { ipfsCid, isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';
import { dataOf } from './domain/soul-state.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef, StepAnswer } from '../../ports/process-runtime.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { soulImport, type SoulImportAnswer, type SoulImportInput } from '../../../workflows/soul-import.js';
import { mindFold } from '../npcs/mind-fold.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import type { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { type SharedOutcomeDeps, outcomeWithin } from '../../kernel/processes/shared-outcome.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { commandSearch } from '../../kernel/streams/find-command.js';
import type { Command } from '../../kernel/streams/run-command.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { canonicalPayload } from './payload-digest.js';
import { ownerOf } from './take-custody.js';
import { hasForgedLink, type LinkDeps } from './chain-links.js';
import { chainOf } from './custody-chain.js';
import { importFold } from './import-fold.js';
import { keptPayload } from './kept-payload.js';
import { type SoulRefusal, type SoulTrust, verifySoul } from './verify-soul.js';
import { requireMetadataFits } from './soul-metadata.js';
import { requireWaitingRoom, stagedFor } from './waiting-room.js';

/** How long a request waits for an import to finish, in milliseconds: clients give up after 15 s. */
const ARRIVING_MS = 12_000;
/** The minimum of that which is always left. */
const LEAST_WAIT_MS = 1_000;
/**
 * How long a received soul is kept for its arrival, in milliseconds: longer than any outage. Souls that no import knows of are also dropped then
 * (archive-sweep.ts).
 */
export const KEPT_MS = 7 * 24 * 3_600_000;
/** The codes of imports that never received this document. After any other refusal they may have received it, from another request. */
const NEVER_RECEIVED: readonly string[] = [
  'SOUL_PAYLOAD_MISMATCH',
  'SOUL_EXCHANGE_EXPIRED',
  'SOUL_IMPORT_NOT_FOUND',
] satisfies readonly RejectionCode[];

export type ImportDeps = {
  readonly runtime: ProcessRuntime;
  readonly waits: SharedOutcomeDeps['waits'];
  readonly repository: ProcessRepository;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Clock;
  readonly archive: Pick<SoulArchive, 'stage' | 'unstage' | 'stagedBytes' | 'readPublic' | 'digestOfCid'>;
  readonly readModels: LinkDeps['readModels'];
  readonly trust: SoulTrust;
  /** Queues work that takes much memory. */
  readonly mutex: KeyedMutex;
  /** How long a client may take between the phases, in milliseconds (ANIMA_SOUL_DEADLINE_MS). */
  readonly soulDeadlineMs: number;
};

/** The payload to import, by its id in an archive (`txId`), and the tenant. */
export type ImportRequest = { readonly tenant: string; readonly txId: string; readonly by: Command };

/** An imported mind. `revision` is the revision from which it exists; `position` its global position. */
export type Imported = {
  readonly soul: Extract<SoulImportAnswer, { name: 'imported' }>['soul'];
  readonly revision: number;
  readonly position: number;
};

const refOf = (stream: string, id: string): ProcessRef => ({ process: soulImport.name, id, stream });

/**
 * Begins to import the payload that an archive calls `txId`. While an import of it waits for its client, or its soul is still arriving, that import is
 * reused.
 * @throws Rejection as ProcessRuntime.ask
 */
export const beginImport = async (
  { runtime, events, writers, repository, clock, soulDeadlineMs }: ImportDeps,
  { tenant, txId, by }: ImportRequest,
): Promise<void> => {
  const stream = importStream(tenant, txId);
  const { state, revision } = await writers.current(stream, importFold);
  const nowMs = clock.now().getTime();
  // It has begun one, or has found a waiting one: another would replace its outcome.
  if (by.done === true && state.newest !== null) return;
  if ((await importOf(events, stream, by)) !== null) return;
  if (state.newest?.open === true) {
    const known = (await repository.load(soulImport, refOf(stream, state.newest.importId))).state as SoulImportAnswer;
    if (known.name === 'received') return;
    if (known.name === 'requested' && Date.parse(known.deadlineAt) > nowMs) return;
  }
  const importId = makeProcessId('i', revision, nowMs, by.commandId);
  const deadlineAt = new Date(nowMs + soulDeadlineMs).toISOString();
  const request: SoulImportInput = { type: 'request', importId, txId, deadlineAt };
  await runtime.ask(refOf(stream, importId), [request], by);
};

/** The import for which an earlier attempt at a command has recorded something. */
const importOf = async (events: EventStore, stream: string, by: Command): Promise<ProcessRef | null> => {
  if (by.done !== true && by.resumed !== true) return null;
  const own = (await commandSearch(events, stream, by.commandId, true).look())?.at(-1)?.data['importId'];
  return typeof own === 'string' ? refOf(stream, own) : null;
};

const newestOf = async ({ writers }: ImportDeps, stream: string): Promise<ProcessRef> => {
  const { newest } = (await writers.current(stream, importFold)).state;
  if (newest === null) throw new Rejection('SOUL_IMPORT_NOT_FOUND');
  return refOf(stream, newest.importId);
};

/** The import of a command. An earlier attempt may have met one, and others may have begun another since. */
const meantBy = async (deps: ImportDeps, stream: string, by: Command): Promise<ProcessRef> => {
  const own = await importOf(deps.events, stream, by);
  if (own !== null) return own;
  if (by.done === true) {
    for await (const page of pagesOf(deps.events, stream, { direction: 'backwards', to: 0 })) {
      const arrived = page.events.find(({ type }) => type === 'SoulImported');
      if (arrived !== undefined) return refOf(stream, arrived.data['importId'] as string);
    }
  }
  return newestOf(deps, stream);
};

/**
 * Ends an import whose client could not download the soul.
 * @throws Rejection SOUL_DOWNLOAD_FAILED, always; SOUL_IMPORT_NOT_FOUND, SOUL_EXCHANGE_EXPIRED, and as ProcessRuntime.ask
 */
export const giveUpImport = async (
  deps: ImportDeps,
  { tenant, txId, by }: ImportRequest,
  reason: string,
): Promise<never> => {
  const ref = await meantBy(deps, importStream(tenant, txId), by);
  const input: SoulImportInput = { type: 'undelivered', code: 'SOUL_DOWNLOAD_FAILED', reason };
  await deps.runtime.ask(ref, [input], by);
  throw new Rejection('SOUL_DOWNLOAD_FAILED', { details: { reason } });
};

/**
 * Imports a soul as a mind: the document is verified and stored, then the import continues in the background. A repeat waits for it, and supplies the
 * document again in case it was lost.
 * @throws Rejection SOUL_IMPORT_NOT_FOUND, SOUL_EXCHANGE_EXPIRED, SOULS_WAITING, SOUL_INVALID, SOUL_PAYLOAD_MISMATCH, DATA_TOO_LARGE, FACTS_TOO_LARGE,
 * SOUL_TOO_LARGE, SOUL_ALREADY_LIVE, READ_MODEL_BEHIND, ENGINE_UNAVAILABLE if it takes longer than ARRIVING_MS, errors from the archive, and as
 * ProcessRuntime.ask
 */
export const receiveSoul = async (
  deps: ImportDeps,
  asked: ImportRequest,
  given: { readonly document: unknown; readonly copy: boolean },
): Promise<Imported & { readonly document: SoulDocument }> => {
  const { tenant, txId, by } = asked;
  const { document, copy } = given;
  const beganMs = deps.clock.monotonicMs();
  const stream = importStream(tenant, txId);
  const ref = await meantBy(deps, stream, by);
  const before = (await deps.repository.load(soulImport, ref)).state as SoulImportAnswer;
  requireOpen(before);
  const verified = await verifySoul(document, deps.trust);
  if (!verified.valid) throw new Rejection('SOUL_INVALID', { details: { reason: verified.reason } });
  const { soul, kid, signer } = verified;
  const { bytes, digest } = await canonicalPayload(soul);
  const staging = stagedFor(tenant, ref.id);
  const stage = (): Promise<void> =>
    deps.archive.stage(digest, bytes, { ...staging, expiresAt: new Date(deps.clock.now().getTime() + KEPT_MS) });
  if (before.name === 'requested') {
    await requireOwnLinks(deps, soul);
    await requireNamed(deps, txId, { digest, bytes, soul });
    requireDataFits(soul);
    await inSlices(requireMetadataFits(soul));
    const isCopy = copy || (signer === 'ours' && (await livesHere(deps, soul)));
    const npcId = isCopy ? copyId(soul.npcId, ref.id) : soul.npcId;
    try {
      if (!isCopy) await requireFree(deps, tenant, txId, soul);
      await requireWaitingRoom(deps.archive, tenant, { importId: ref.id, bytes: bytes.length });
    } catch (error) {
      const now = (await deps.repository.load(soulImport, ref)).state as SoulImportAnswer;
      if (now.name === 'requested') throw error;
      // Another request has confirmed this import in the meantime, so this one is its repeat.
      return receiveSoul(deps, asked, given);
    }
    await stage();
    const { id: soulId, trainingProof: root, memories } = soul;
    const received = { soulId, digest, root, kid, signer, npcId, copy: isCopy };
    const sizes = { memories: memories.length, bytes: bytes.length };
    const input: SoulImportInput = { type: 'received', ...received, ...sizes };
    try {
      await deps.runtime.ask(ref, [input], by);
    } catch (error) {
      if (error instanceof Rejection && NEVER_RECEIVED.includes(error.code))
        await deps.archive.unstage(digest, staging);
      throw error;
    }
  } else if ('soul' in before) {
    if (before.soul.digest !== digest)
      throw new Rejection('SOUL_PAYLOAD_MISMATCH', {
        message: 'This import has already been confirmed with a different document.',
      });
    if (before.name === 'received') await stage();
  }
  const withinMs = Math.max(LEAST_WAIT_MS, ARRIVING_MS - (deps.clock.monotonicMs() - beganMs));
  const outcome = await outcomeWithin(deps, ref, by, withinMs);
  // The import may have ended before it was staged here: it would not look at it again.
  if (outcome !== null && before.name !== 'imported') await deps.archive.unstage(digest, staging);
  return { ...(await arrivedSoul(deps, tenant, outcome)), document: soul };
};

/** Raises the failure of an import that has failed or expired. */
const requireOpen = (state: SoulImportAnswer): void => {
  if (state.name === 'expired') throw new Rejection('SOUL_EXCHANGE_EXPIRED');
  if (state.name !== 'failed') return;
  const { code, details = {} } = state.failure;
  const known = isRejectionCode(code) ? code : 'SOUL_DOWNLOAD_FAILED';
  const message = known === 'SOUL_ALREADY_LIVE' ? { message: FASTER } : {};
  throw new Rejection(known, { ...message, details: { reason: state.failure.reason, ...details } });
};

const FASTER =
  'Another import of this soul, or another NPC with its npcId, came first. Start a new import, and confirm it with "copy": true.';

/**
 * Whether a CID is that of a soul's binary form. Any CID causes this work, which takes up to 48 MiB, so it runs sequentially, together with the
 * exports in binary form. That is enough of a limit: it takes less time than verifying the soul, which every request that gets here has sent in full.
 */
const isNamedAsBinary = ({ mutex }: ImportDeps, cid: string, soul: SoulDocument): Promise<boolean> =>
  mutex.runExclusive('binary', async () => (await inSlices(ipfsCid(await inSlices(soulToCborSlices(soul))))) === cid);

/** A CID must match the bytes, and an id in this server's archive the digest. Ids of other archives cannot be checked. */
const requireNamed = async (
  deps: ImportDeps,
  txId: string,
  { digest, bytes, soul }: { readonly digest: string; readonly bytes: Uint8Array; readonly soul: SoulDocument },
): Promise<void> => {
  const isNamed = isIpfsCid(txId)
    ? (await inSlices(ipfsCid(bytes))) === txId || (await isNamedAsBinary(deps, txId, soul))
    : txId === digest || (await keptPayload(deps.archive, txId)) === null;
  if (isNamed) return;
  throw new Rejection('SOUL_PAYLOAD_MISMATCH', { message: 'The document differs from the one that sicTxId names.' });
};

/** Nobody may speak in this server's name, neither with a soul nor with its past. */
const requireOwnLinks = async (
  { events, readModels, trust }: ImportDeps,
  { provenance }: SoulDocument,
): Promise<void> => {
  if (await hasForgedLink({ events, readModels, keys: trust.keys }, provenance.chain))
    throw new Rejection('SOUL_INVALID', { details: { reason: 'claims_our_server' satisfies SoulRefusal } });
};

const requireDataFits = ({ state, facts = {} }: SoulDocument): void => {
  const bytes = dataBytes(dataOf(state));
  if (bytes > DATA_BYTES) throw new Rejection('DATA_TOO_LARGE', { details: { bytes, limitBytes: DATA_BYTES } });
  requireReport(facts);
};

const hasHistory = async ({ writers }: ImportDeps, tenant: string, npcId: string): Promise<boolean> =>
  (await writers.current(npcStream(tenant, npcId), mindFold)).revision >= 0;

/** Whether the mind from which a soul of this server was made still lives here. */
const livesHere = (deps: ImportDeps, { provenance }: SoulDocument): Promise<boolean> =>
  hasHistory(deps, provenance.tenant, provenance.npcId);

/** How the live mind was imported, if it is this soul's own with the same parameters: an earlier answer may have been lost. */
const sameArrival = async (
  { writers, events }: ImportDeps,
  { tenant, npcId }: SoulOwner,
  txId: string,
  soul: SoulDocument,
): Promise<JsonObject> => {
  const stream = npcStream(tenant, npcId);
  const { origin } = (await writers.current(stream, mindFold)).state;
  if (npcId !== soul.npcId || origin === null || origin.arrivedAt < 0) return {};
  const link = (await chainOf(events, stream, origin)).chain.at(-1);
  if (link?.txId !== txId || link.root !== soul.trainingProof) return {};
  return { origin: { soulId: link.soulId, txId, importedAt: link.importedAt } };
};

const requireFree = async (deps: ImportDeps, tenant: string, txId: string, soul: SoulDocument): Promise<void> => {
  const { npcId } = soul;
  const owner = await ownerOf(deps, soul.trainingProof);
  if (owner !== null) {
    // Another tenant's mind is not revealed.
    const details =
      owner.tenant === tenant ? { npcId: owner.npcId, ...(await sameArrival(deps, owner, txId, soul)) } : {};
    throw new Rejection('SOUL_ALREADY_LIVE', { details });
  }
  if (!(await hasHistory(deps, tenant, npcId))) return;
  throw new Rejection('SOUL_ALREADY_LIVE', {
    message:
      'The npcId of this soul is or was in use by another NPC. To import the soul under another npcId, set "copy": true.',
    details: { npcId },
  });
};

/** @param outcome null if it has not arrived in time */
const arrivedSoul = async ({ events }: ImportDeps, tenant: string, outcome: StepAnswer | null): Promise<Imported> => {
  const state = outcome?.answer as SoulImportAnswer | undefined;
  if (state !== undefined) requireOpen(state);
  if (outcome === null || state?.name !== 'imported') {
    throw new Rejection('ENGINE_UNAVAILABLE', {
      message: 'The soul has not arrived yet. The import continues; send the same request again to wait for it.',
      retryAfter: 1,
    });
  }
  const { npcId, revision } = state.arrived;
  // An outcome has no position: the import wrote the mind, not the request.
  const arrived = await eventAt(events, npcStream(tenant, npcId), revision);
  return { soul: state.soul, revision, position: arrived?.position ?? 0 };
};
