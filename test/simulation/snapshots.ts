import type { Snapshots } from '../../src/ports/snapshots.js';
import type { Link } from './network.js';

/** Snapshots over a network: a read may get no answer, and a save without an answer may still have been made. */
export const snapshotsOver = (snapshots: Snapshots, link: Link): Snapshots => ({
  latest: (...asked) => link.call(() => snapshots.latest(...asked)),
  save: (snapshot) => link.call(() => snapshots.save(snapshot)),
});
