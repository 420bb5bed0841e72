import { measureParts } from '../measure.js';
import { measureMove } from './move.js';
import { measureVerify } from './verify.js';

await measureParts('souls', { move: measureMove, verify: measureVerify }, process.argv.slice(2));
