import type { Moment, Snapshot, Snapshots } from '../../ports/snapshots.js';

/** Snapshots for as long as the process lives. */
export class MemorySnapshots implements Snapshots {
  readonly #snapshots = new Map<string, Snapshot>();

  async latest(stream: string, version: number, moment: Moment): Promise<Snapshot | null> {
    const reached = ({ revision, atMs }: Snapshot): boolean =>
      'revision' in moment ? revision <= moment.revision : atMs <= moment.timeMs;
    return [...this.#snapshots.values()]
      .filter((snapshot) => snapshot.stream === stream && snapshot.version === version && reached(snapshot))
      .reduce<Snapshot | null>(
        (latest, next) => (latest !== null && latest.revision > next.revision ? latest : next),
        null,
      );
  }

  async save(snapshot: Snapshot): Promise<void> {
    const key = `${snapshot.stream} ${String(snapshot.revision)}`;
    const there = this.#snapshots.get(key);
    if (there === undefined || isOther(there, snapshot)) this.#snapshots.set(key, snapshot);
  }
}

const isOther = (there: Snapshot, { version, hash, state }: Snapshot): boolean =>
  there.version !== version || there.hash !== hash || there.state !== state;
