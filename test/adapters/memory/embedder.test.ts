import { MemoryEmbedder } from '../../../src/adapters/memory/embedder.js';
import { embedderContract } from '../../contracts/embedder.js';

embedderContract('The memory adapter', async () => new MemoryEmbedder());
