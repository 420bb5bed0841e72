import type { Snapshots } from '../../src/ports/snapshots.js';
import type { Link } from './network.js';

/** Snapshots over a network: one that is asked for may not come, one without an answer may have been saved. */
export const snapshotsOver = (snapshots: Snapshots, link: Link): Snapshots => ({
  latest: (...asked) => link.call(() => snapshots.latest(...asked)),
  save: (snapshot) => link.call(() => snapshots.save(snapshot)),
});
