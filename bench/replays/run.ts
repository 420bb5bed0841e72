import { measureParts } from '../measure.js';
import { measureReplays } from './replay.js';

await measureParts('replays', { replay: measureReplays }, process.argv.slice(2));
