import { EmbeddedProcessRuntime } from '../../src/adapters/embedded/process-runtime.js';
import { MemoryEventStore } from './memory/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { bundleOf } from '../../src/features/proofs/bundle.js';
import { checkpointEffects } from '../../activities/effects/checkpoint.js';
import type { CheckpointAt } from '../../src/features/proofs/log.js';
import { restartLog } from '../../src/features/proofs/restart-log.js';
import { makeCheckpoint } from '../../src/features/proofs/make-checkpoint.js';
import { createNews } from '../../src/features/proofs/news.js';
import type { EventChecks } from '../../src/kernel/streams/event-checks.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { systemContext } from '../../src/kernel/streams/command-id.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { runCommand } from '../../src/kernel/streams/run-command.js';
import { defined } from '../../src/kernel/base/defined.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { logStream, npcStream } from '../../src/kernel/base/stream-names.js';
import type { CheckpointReceiver } from '../../src/ports/checkpoint-receiver.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Log } from '../../src/ports/log.js';
import type { Seals } from '../../src/kernel/crypto/seals.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import { checkpoint } from '../../workflows/checkpoint.js';
import { seals } from './seals.js';
import { serverKeys } from './souls.js';
import { texts } from './streams.js';

export const LOG_TENANT = 'studio';

const silent = { error: () => undefined, info: () => undefined, warn: () => undefined };

/** A log of a tenant in memory, with the runtime that drives its rounds. */
export const openLog = async ({
  signingKeys,
  receiver = null,
  issuer = 'https://minds.example',
  log = silent,
  clock = systemClock,
  events = new MemoryEventStore(),
  sealing = seals,
  // The tests of the log write events that no server would have made.
  checks = {
    isBroken: () => Promise.resolve(false),
    requireGood: () => Promise.resolve(),
    requireWhole: () => Promise.resolve(),
  },
}: {
  readonly signingKeys?: SigningKeys;
  readonly receiver?: (Pick<CheckpointReceiver, 'handOn'> & Partial<CheckpointReceiver>) | null;
  readonly log?: Pick<Log, 'warn'>;
  readonly clock?: Clock;
  readonly issuer?: string;
  readonly events?: MemoryEventStore;
  /** Null for a server that is older than seals. */
  readonly sealing?: Seals | null;
  readonly checks?: EventChecks;
} = {}) => {
  const keys = signingKeys ?? (await serverKeys('log'));
  const writers = new StreamWriters(events, clock, sealing === null ? {} : { seals: sealing });
  const deps = { clock, random: systemRandom, events, writers };
  const repository = new ProcessRepository(events);
  const ports = { events, clock };
  const published = {
    issuer,
    checkpointReceiver: receiver && { lastKept: () => Promise.resolve(null), ...receiver },
  };
  const host = checkpointEffects({ ...deps, ...published, ports, checks, signingKeys: keys, log });
  const processes = { checkpoint: { ...host, process: checkpoint } };
  const runtime = new EmbeddedProcessRuntime({ ...deps, repository, processes, logger: silent });
  await runtime.start();
  const rounds = { ...deps, ...published, checks, news: createNews(events), runtime };
  const by = () => systemContext(deps, logStream(LOG_TENANT));
  return {
    events,
    keys,
    writers: deps.writers,
    /** The trigger of a round. */
    rounds,
    /** Appends one event for each of these to a mind. */
    write: async (npcId: string, ...data: readonly JsonObject[]): Promise<void> => {
      await runCommand(deps, npcStream(LOG_TENANT, npcId), texts, by(), () =>
        data.map((one) => ({ type: 'Noted', data: one })),
      );
    },
    /** Makes a checkpoint. @throws Error if there is none */
    checkpoint: async (): Promise<CheckpointAt> => {
      const made = await makeCheckpoint(rounds, LOG_TENANT, by());
      if (made === null) throw new Error('there is no checkpoint');
      return made;
    },
    restart: (reason: string) => restartLog({ ...deps, issuer, checks }, LOG_TENANT, reason, by()),
    /** The text of a bundle. */
    bundle: async (npcId: string, from: number, to: number, extended?: number): Promise<string> => {
      const asked = { tenant: LOG_TENANT, npcId, from, to, ...defined({ extends: extended }) };
      const made = { madeAt: '2026-11-25T00:00:00.000Z', keys: await keys.publicJwks() };
      let text = '';
      for await (const chunk of bundleOf(events, { ...asked, ...made })) text += chunk;
      return text;
    },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
};
