import { measureParts } from '../measure.js';
import { measureAppends } from './append.js';
import { measureCost } from './cost.js';
import { measureUpdateHeap } from './heap.js';
import { measureLag } from './lag.js';
import { measureProjector } from './projector.js';
import { measureSteps } from './step.js';

await measureParts(
  'distributed',
  {
    step: measureSteps,
    append: measureAppends,
    projector: measureProjector,
    lag: measureLag,
    cost: measureCost,
    heap: measureUpdateHeap,
  },
  process.argv.slice(2),
);
