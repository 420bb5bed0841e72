import { MemorySoulArchive } from '../../../src/adapters/memory/soul-archive.js';
import { soulArchiveContract } from '../../contracts/soul-archive.js';

soulArchiveContract('The memory adapter', async () => ({
  archive: new MemorySoulArchive(),
  dispose: async () => undefined,
}));
