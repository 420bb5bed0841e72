import { decoderOf } from '../shared/decoder.js';
import type { ReplayEvent } from './replay-events.js';

/** The events of replays. */
export const replayEvents = decoderOf<ReplayEvent>({
  ReplayRequested: [],
  ReplayBegun: [],
  ReplayAdvanced: [],
  ReplayEnded: [],
});
