import type { Clock } from '../../../src/ports/clock.js';
import { MemoryReadModels } from '../../../src/adapters/memory/read-models.js';
import { readModelsContract } from '../../contracts/read-models.js';
import { textSearchContract } from '../../contracts/text-search.js';

const open = async (clock: Clock) => ({ models: new MemoryReadModels(clock), dispose: async () => undefined });

readModelsContract('The memory adapter', open);
textSearchContract('The memory adapter', open);
