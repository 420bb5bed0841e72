import { Rejection } from '../../domain/shared/rejection.js';
import { parseNpcStream } from '../../domain/shared/stream-names.js';

import type { SoulExportInput } from '../../../workflows/soul-export.js';
import { mindFold } from '../minds/mind.js';
import { KeyedMutex } from '../../concurrency/keyed-mutex.js';
import type { Ports } from '../../ports/ports.js';
import type { ProcessHost } from '../processes/hosted-process.js';
import { type SealAsked, type SealDeps, sealSoul } from './seal-soul.js';
import { type KeepAsked, keepSoul } from './keep-soul.js';
import type { OtherArchives } from './other-archives.js';
import { requireWaitingRoom } from './waiting-room.js';

/** How long one attempt at sealing or keeping a soul may take, in milliseconds. */
const SOUL_EFFECT_MS = 60_000;

export type ExportHostDeps = Omit<SealDeps, 'ports'> & {
  readonly ports: SealDeps['ports'] & Pick<Ports, 'clock'>;
  readonly archives: Pick<OtherArchives, 'ipfs'>;
};

/** What an export needs: its effects read a mind and write an archive. A soul may take much memory and time, so this process seals one after the other. */
export const exportHost = (deps: ExportHostDeps, mutex = new KeyedMutex()): ProcessHost => ({
  fold: mindFold,
  prepare: () => Promise.resolve(() => null),
  effectMs: SOUL_EFFECT_MS,
  effect: async ({ stream, id }, effect, signal) => {
    const mind = parseNpcStream(stream);
    if (mind === null) throw new Error(`the export ${id} is not in a mind's stream`);
    const input =
      effect.name === 'seal'
        ? await mutex.runExclusive('seal', () =>
            seal(deps, { ...(effect.args as unknown as SealAsked), ...mind, stream }, signal),
          )
        : await keepSoul(
            { ...deps, archive: deps.ports.soulArchive, clock: deps.ports.clock },
            mind.tenant,
            effect.args as unknown as KeepAsked,
            signal,
          );
    return input satisfies SoulExportInput;
  },
});

/** A soul that is too large stays so, however often it is tried. */
const seal = async (deps: SealDeps, asked: SealAsked, signal: AbortSignal): Promise<SoulExportInput> => {
  // It may have waited for its turn until nobody needs it.
  signal.throwIfAborted();
  // The export stays open, and is tried again until there is room.
  await requireWaitingRoom(deps.ports.soulArchive, asked.tenant);
  try {
    return { type: 'sealed', ...(await sealSoul(deps, asked, signal)) };
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'SOUL_TOO_LARGE') throw error;
    return { type: 'failed', code: error.code, reason: error.message, details: error.details };
  }
};
