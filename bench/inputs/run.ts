import { measureParts } from '../measure.js';
import { historyInputs } from './histories.js';
import { levelInputs } from './levels.js';
import { measureInputs } from './measure.js';
import { soulInputs } from './souls.js';
import { stepInputs } from './steps.js';
import { thingInputs } from './things.js';

await measureParts(
  'inputs',
  {
    steps: measureInputs(stepInputs),
    things: measureInputs(thingInputs),
    levels: measureInputs(levelInputs),
    souls: measureInputs(soulInputs),
    histories: measureInputs(historyInputs),
  },
  process.argv.slice(2),
);
