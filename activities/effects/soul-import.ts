import { parseImportStream } from '../../src/kernel/base/stream-names.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import type { Ports } from '../../src/ports/ports.js';
import type { SoulImportInput } from '../../workflows/soul-import.js';
import { KeyedMutex } from '../../src/kernel/concurrency/keyed-mutex.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { arrive, type Arrival, arrivalContext, arrivedBefore } from '../../src/features/souls/arrive.js';
import { letGo, takeCustody } from '../../src/features/souls/take-custody.js';
import { importFold } from '../../src/features/souls/import-fold.js';
import { stagedFor } from '../../src/features/souls/waiting-room.js';
import { sealedSoul } from '../../src/features/souls/sealed-soul.js';

/** The timeout of one attempt at importing a soul, in milliseconds; the next one continues where it stopped. */
const ARRIVAL_MS = 60_000;

export type SoulImportEffectsDeps = {
  readonly ports: Pick<Ports, 'events' | 'soulArchive' | 'clock'>;
  readonly writers: StreamWriters;
};

/** What an import needs: its effect reads the archive and writes a mind. A soul may use much memory, so this process imports one at a time. */
export const soulImportEffects = (
  { ports, writers }: SoulImportEffectsDeps,
  mutex = new KeyedMutex(),
): ProcessEffects => ({
  fold: importFold,
  prepare: () => Promise.resolve(() => null),
  effectMs: ARRIVAL_MS,
  effect: async ({ stream, id }, effect, signal) => {
    const imported = parseImportStream(stream);
    if (imported === null) throw new Error(`the import ${id} is not in a stream of imports`);
    const arrival = { ...(effect.args as unknown as Omit<Arrival, 'tenant'>), tenant: imported.tenant };
    const input = await mutex.runExclusive('arrive', () => bringIn({ ports, writers }, arrival, signal));
    return input satisfies SoulImportInput;
  },
});

const bringIn = async (
  { ports, writers }: SoulImportEffectsDeps,
  arrival: Arrival,
  signal: AbortSignal,
): Promise<SoulImportInput> => {
  // The caller may have left while it waited for its turn.
  signal.throwIfAborted();
  const deps = { writers, events: ports.events, clock: ports.clock };
  const by = arrivalContext(arrival);
  const { root, npcId, copy, digest } = arrival.soul;
  const owner = { tenant: arrival.tenant, npcId, importId: arrival.importId };
  const end = async (input: SoulImportInput): Promise<SoulImportInput> => {
    if (input.type === 'refused' && !copy) await letGo(deps, root, owner, by);
    await ports.soulArchive.unstage(digest, stagedFor(arrival.tenant, arrival.importId));
    return input;
  };
  const earlier = await arrivedBefore(deps, arrival);
  if (typeof earlier === 'number') return end({ type: 'arrived', npcId, revision: earlier });
  // A copy is never the only one, so it needs no custody.
  if (!copy && !(await takeCustody(deps, root, owner, by))) return end(alreadyLive(npcId));
  const document = await sealedSoul(ports.soulArchive, digest);
  if (document === null) {
    // Checked once more: an attempt in another process may have imported it meanwhile, and then dropped it.
    if ((await arrivedBefore(deps, arrival)) === null) return end(lost);
    // Half of it is imported: the client may upload it again, or an operator may restore it.
    throw new Error(`the archive has lost the soul ${digest}, which was received`);
  }
  try {
    return await end({ type: 'arrived', npcId, revision: await arrive(deps, arrival, document, signal) });
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'SOUL_ALREADY_LIVE') throw error;
    return end(alreadyLive(npcId));
  }
};

const lost: SoulImportInput = {
  type: 'refused',
  code: 'SOUL_DOWNLOAD_FAILED',
  reason: 'The archive of this server lost the soul before the import was complete.',
};

const alreadyLive = (npcId: string): SoulImportInput => {
  const { code, message: reason } = new Rejection('SOUL_ALREADY_LIVE');
  return { type: 'refused', code, reason, details: { npcId } };
};
