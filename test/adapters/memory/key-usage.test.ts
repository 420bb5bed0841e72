import { MemoryKeyUsage } from '../../../src/adapters/memory/key-usage.js';
import { keyUsageContract } from '../../contracts/key-usage.js';

keyUsageContract('The memory adapter', async () => ({ usage: new MemoryKeyUsage(), dispose: async () => undefined }));
