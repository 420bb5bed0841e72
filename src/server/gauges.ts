import type { FigureReading } from '../adapters/prometheus/metrics.js';
import { newestCheckpointAt } from '../features/proofs/newest-checkpoint.js';
import { openTurns } from '../features/turns/open-turns.js';
import type { StreamWriters } from '../kernel/streams/stream-writers.js';
import type { Clock } from '../ports/clock.js';
import { notTooOften } from '../profiles/answering.js';
import type { Profile, RunningReadModels } from '../profiles/profile.js';

/** What is known only while the server is ready. */
export type ReadyState = {
  readonly profile: Profile;
  readonly writers: StreamWriters;
  readonly tenants: () => readonly string[];
};

/** The sources of the figures; each is null while it is not open. */
export type FigureSources = {
  readModels: RunningReadModels | null;
  ready: ReadyState | null;
};

/** How many tenants are looked at for their newest checkpoint. */
const TENANTS_LOOKED_AT = 100;

/** Every figure that is read when the metrics are requested. */
export const figuresOf = (sources: FigureSources, clock: Clock): readonly FigureReading[] => {
  const ofModels = (name: Exclude<keyof RunningReadModels, symbol>): FigureReading['read'] => {
    return async () => (await sources.readModels?.[name]()) ?? null;
  };
  /** Only one process of an installation has to show what all share; the others would read the same. */
  const driving = (): ReadyState | null => (sources.ready?.profile.serves.processes === true ? sources.ready : null);
  const turns = notTooOften(clock, async () => {
    const ready = driving();
    return ready === null ? null : openTurns(ready.profile.ports.events, clock.now());
  });
  const disk = notTooOften(clock, async () => (await sources.ready?.profile.disk()) ?? null);
  const checkpointAge = async (): Promise<number | null> => {
    const ready = driving();
    if (ready === null) return null;
    const at = await newestCheckpointAt(ready.writers, ready.tenants().slice(0, TENANTS_LOOKED_AT));
    return at === null ? null : Math.max(0, (clock.now().getTime() - at) / 1000);
  };
  const gauge = (name: string, help: string, read: FigureReading['read']): FigureReading => ({ name, help, read });
  return [
    gauge('anima_projection_lag_events', 'How far behind the slowest read model is.', ofModels('lag')),
    gauge('anima_projection_parked_events', 'Events that a read model could not apply.', ofModels('parked')),
    gauge('anima_relay_lag_events', 'How far behind the event store the relay is.', ofModels('relayLag')),
    gauge('anima_embedding_pending_texts', 'Texts that have no vector yet, at most 100,000.', ofModels('unembedded')),
    {
      ...gauge('anima_embedded_texts_total', 'Texts embedded in the background.', ofModels('embedded')),
      isCounter: true,
    },
    gauge('anima_open_turns', 'Turns that wait for a step.', async () => (await turns())?.count ?? null),
    gauge('anima_open_turn_age_seconds', 'The age of the oldest open turn.', async () => {
      return (await turns())?.oldestSeconds ?? null;
    }),
    gauge('anima_checkpoint_age_seconds', 'The age of the newest checkpoint of any tenant.', checkpointAge),
    gauge('anima_event_store_bytes', 'The size of the event store.', async () => (await disk())?.eventBytes ?? null),
    gauge('anima_disk_free_bytes', 'Free space on the disk of the data directory.', async () => {
      return (await disk())?.freeBytes ?? null;
    }),
  ];
};
