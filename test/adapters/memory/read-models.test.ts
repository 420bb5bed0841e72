import { MemoryReadModels } from '../../../src/adapters/memory/read-models.js';
import { readModelsContract } from '../../contracts/read-models.js';

readModelsContract('The memory adapter', async (clock) => ({
  models: new MemoryReadModels(clock),
  dispose: async () => undefined,
}));
