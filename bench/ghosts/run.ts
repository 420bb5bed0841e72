import { measureParts } from '../measure.js';
import { measureLive } from './live.js';
import { measureRate } from './rate.js';

await measureParts('ghosts', { rate: measureRate, live: measureLive }, process.argv.slice(2));
