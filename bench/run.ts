import { measureHeap } from './heap.js';
import { measureLatency } from './latency.js';
import { measureLongMind } from './long-mind.js';
import { measureParts } from './measure.js';
import { measurePosts } from './post.js';
import { measureRebuild } from './rebuild.js';
import { measureRules } from './rules.js';
import { measureStart } from './start.js';
import { measureTurns } from './turns.js';

await measureParts(
  'embedded',
  {
    post: measurePosts,
    turns: measureTurns,
    latency: measureLatency,
    rules: measureRules,
    rebuild: measureRebuild,
    start: measureStart,
    'long-mind': measureLongMind,
    heap: measureHeap,
  },
  process.argv.slice(2),
);
