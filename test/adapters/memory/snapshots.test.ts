import { MemorySnapshots } from '../../../src/adapters/memory/snapshots.js';
import { snapshotsContract } from '../../contracts/snapshots.js';

snapshotsContract('The memory adapter', async () => ({
  snapshots: new MemorySnapshots(),
  dispose: async () => undefined,
}));
