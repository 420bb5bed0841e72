import { decoderOf } from '../../../kernel/base/decoder.js';
import type { ReplayEvent } from './events.js';

/** The events of replays. */
export const replayEvents = decoderOf<ReplayEvent>({
  ReplayRequested: [],
  ReplayBegun: [],
  ReplayAdvanced: [],
  ReplayEnded: [],
});
