import { measureParts } from '../measure.js';
import { measureAgents } from './agents.js';
import { measureEmbedding } from './embedding.js';
import { measureLive } from './live.js';
import { measureRecall } from './recall.js';
import { measureStores } from './stores.js';

await measureParts(
  'memory',
  {
    recall: measureRecall(({ recallMemories }) => recallMemories, true),
    'recall-many': measureRecall(({ manyMemories }) => manyMemories, false),
    stores: measureStores,
    agents: measureAgents,
    embedding: measureEmbedding,
    live: measureLive,
  },
  process.argv.slice(2),
);
