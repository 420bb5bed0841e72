import type { NpcEvent } from '../../src/features/npcs/domain/events.js';
import { defined } from '../../src/kernel/base/defined.js';
import type { Json } from '../../src/kernel/base/json.js';
import { mergePatch } from '../../src/kernel/base/merge-patch.js';
import { Rejection, type RejectionCode } from '../../src/kernel/base/rejection.js';
import { parseNpcStream } from '../../src/kernel/base/stream-names.js';
import type { SoulExportInput } from '../../workflows/soul-export.js';
import { sinceArrival } from '../../src/features/souls/domain/since-arrival.js';
import { makeSoul, type SoulDocument } from '../../src/features/souls/domain/document.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { KeyedMutex } from '../../src/kernel/concurrency/keyed-mutex.js';
import type { Ports } from '../../src/ports/ports.js';
import { rulesetDigest } from '../../src/features/rules/ruleset-digest.js';
import { DEFAULT_RULESET_ID, type Rulesets } from '../../src/features/rules/rulesets.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { EventChecks } from '../../src/kernel/streams/event-checks.js';
import { eventAt } from '../../src/kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { canonicalPayload } from '../../src/features/souls/payload-digest.js';
import { arrivedParts, chainOf, withoutPlaces } from '../../src/features/souls/custody-chain.js';
import { type KeepRequest, keepSoul } from '../../src/features/souls/keep-soul.js';
import { type NamedPlayers, namedPlayers } from '../../src/features/souls/disclose.js';
import type { OtherArchives } from '../../src/features/souls/other-archives.js';
import { soulMemories } from '../../src/features/souls/soul-memories.js';
import { signSoul } from '../../src/features/souls/soul-signer.js';
import { requireWaitingRoom } from '../../src/features/souls/waiting-room.js';
import { noteTenantPlayers } from '../../src/features/souls/tenant-players.js';
import { type Told, toldWithoutPlayers } from '../../src/features/souls/without-players.js';

/** The timeout of one attempt at sealing or keeping a soul, in milliseconds. */
const SOUL_EFFECT_MS = 60_000;

type SealDeps = {
  readonly ports: Pick<Ports, 'events' | 'readModels' | 'soulArchive'>;
  readonly writers: StreamWriters;
  readonly rulesets: Pick<Rulesets, 'latest' | 'newest'>;
  readonly checks: Pick<EventChecks, 'isBroken' | 'requireWhole'>;
  readonly signingKeys: SigningKeys;
  /** The public URL of this server, which is the exporter. */
  readonly issuer: string;
};

/** Which mind is exported, and as of when: `revision` is the revision of the request, `requestedAt` its time. */
type SealRequest = Pick<
  Extract<NpcEvent, { type: 'SoulExportRequested' }>['data'],
  'soulId' | 'npcState' | 'persona' | 'includeMemories' | 'without' | 'deadlineAt'
> & {
  readonly tenant: string;
  readonly npcId: string;
  readonly stream: string;
  readonly revision: number;
  readonly requestedAt: string;
};

/** What the event records of a sealed soul. */
type Sealed = Omit<Extract<NpcEvent, { type: 'SoulSealed' }>['data'], 'soulId'>;

/**
 * Makes the document of a mind as it was at a revision, signs it, and keeps it in the archive, where it is not public yet. A repeat makes the same
 * document, unless the key or the tenant's rules have changed since or, without players, bodies have named others.
 * @throws Rejection CHAIN_BROKEN, SOUL_TOO_LARGE; the reason of the signal; what the ports throw
 */
const sealSoul = async (deps: SealDeps, asked: SealRequest, signal: AbortSignal): Promise<Sealed> => {
  const { ports, signingKeys, issuer } = deps;
  const { stream, tenant, revision, deadlineAt } = asked;
  await deps.checks.requireWhole(stream, revision, signal);
  const { state: mind } = await deps.writers.asOf(stream, mindFold, { revision });
  const memories = asked.includeMemories
    ? await soulMemories({ events: ports.events, checks: deps.checks }, stream, revision, signal)
    : [];
  const isWhole = asked.without === undefined;
  const held = isWhole ? mind : sinceArrival(mind, await arrivedParts(ports.events, stream, mind.origin));
  const told = {
    persona: held.persona ?? asked.persona ?? null,
    data: mergePatch(held.data ?? {}, asked.npcState),
    facts: held.facts ?? {},
    memories,
  };
  const { chain } = await chainOf(ports.events, stream, mind.origin);
  const unsigned = makeSoul({
    soulId: asked.soulId,
    createdAt: asked.requestedAt,
    npcId: asked.npcId,
    ...(isWhole
      ? told
      : await toldWithoutPlayers(told, await playersFor(ports, asked, told, signal), mind.origin?.arrivedAt)),
    ...defined({ without: asked.without }),
    ruleset: await rulesetOf(deps, tenant, mind.rulesetId),
    provenance: {
      ...{ issuer, tenant, npcId: asked.npcId, revision },
      hash: await hashAt(deps, stream, revision),
      chain: isWhole ? chain : withoutPlaces(chain),
    },
  });
  // The keys may be rotated meanwhile.
  const { kid } = signingKeys.current;
  const document = await signSoul(signingKeys, issuer, unsigned, kid);
  const { bytes, digest } = await canonicalPayload(document);
  await ports.soulArchive.stage(digest, bytes, { tenant, expiresAt: new Date(deadlineAt) });
  return {
    name: document.name,
    digest,
    root: document.trainingProof,
    kid,
    mindRevision: revision,
    memories: document.memories.length,
    bytes: bytes.length,
    signature: document.signature,
  };
};

/** The players whom bodies named to the mind, and those of the tenant's other minds whom what is told may name. */
const playersFor = async (
  ports: SealDeps['ports'],
  { tenant, stream, revision }: SealRequest,
  { persona, data, facts, memories }: Told,
  signal: AbortSignal,
): Promise<NamedPlayers> => {
  const named = await namedPlayers(ports.events, stream, revision, signal);
  const values: readonly Json[] = [persona, data, facts, ...(memories as unknown as readonly Json[])];
  await noteTenantPlayers(ports, tenant, values, named.index, signal);
  return named;
};

/** The rules that a mind follows. A mind whose own set was deleted follows its last version. */
const rulesetOf = async (
  { rulesets }: SealDeps,
  tenant: string,
  bound: string | null,
): Promise<SoulDocument['ruleset']> => {
  const set = await (bound === null ? rulesets.latest(tenant, DEFAULT_RULESET_ID) : rulesets.newest(tenant, bound));
  if (set === null) return null;
  const { rulesetId, version } = set;
  return { rulesetId, version, digest: await rulesetDigest(set), ...(bound === null ? {} : { bound: true }) };
};

/** The hash, in base64url, of the last event that the soul covers: with the stream, it proves that the soul came from it. */
const hashAt = async ({ ports }: SealDeps, stream: string, revision: number): Promise<string> => {
  const event = await eventAt(ports.events, stream, revision);
  if (event?.revision !== revision) throw new Error(`the stream ${stream} has no revision ${String(revision)}`);
  return Buffer.from(event.meta.hash, 'hex').toString('base64url');
};

export type SoulExportEffectsDeps = Omit<SealDeps, 'ports'> & {
  readonly ports: SealDeps['ports'] & Pick<Ports, 'clock'>;
  readonly archives: Pick<OtherArchives, 'ipfs'>;
};

/** What an export needs: its effects read a mind and write an archive. A soul may use much memory and time, so this process seals one at a time. */
export const soulExportEffects = (deps: SoulExportEffectsDeps, mutex = new KeyedMutex()): ProcessEffects => ({
  fold: mindFold,
  prepare: () => Promise.resolve(() => null),
  effectMs: SOUL_EFFECT_MS,
  effect: async ({ stream, id }, effect, signal) => {
    const mind = parseNpcStream(stream);
    if (mind === null) throw new Error(`the export ${id} is not in a mind's stream`);
    const input =
      effect.name === 'seal'
        ? await mutex.runExclusive('seal', () =>
            seal(deps, { ...(effect.args as unknown as SealRequest), ...mind, stream }, signal),
          )
        : await keepSoul(
            { ...deps, archive: deps.ports.soulArchive, clock: deps.ports.clock },
            mind.tenant,
            effect.args as unknown as KeepRequest,
            signal,
          );
    return input satisfies SoulExportInput;
  },
});

/** These fail for good: a retry would not change them. */
const FINAL: readonly RejectionCode[] = ['SOUL_INVALID', 'SOUL_TOO_LARGE', 'CHAIN_BROKEN'];

/** Seals a soul. */
const seal = async (deps: SealDeps, asked: SealRequest, signal: AbortSignal): Promise<SoulExportInput> => {
  // The caller may have left while it waited for its turn.
  signal.throwIfAborted();
  // The export stays open, and is retried until there is room.
  await requireWaitingRoom(deps.ports.soulArchive, asked.tenant);
  try {
    return { type: 'sealed', ...(await sealSoul(deps, asked, signal)) };
  } catch (error) {
    if (!(error instanceof Rejection) || !FINAL.includes(error.code)) throw error;
    return { type: 'failed', code: error.code, reason: error.message, details: error.details };
  }
};
