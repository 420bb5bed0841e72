import { decoderOf } from '../../../kernel/base/decoder.js';
import type { GhostEvent, GhostStepEvent } from './events.js';

/** The events of ghost sessions. */
export const ghostEvents = decoderOf<GhostEvent>({
  GhostRequested: [],
  GhostBegun: [],
  GhostPlayed: [],
  GhostEnded: [],
  GhostReported: [],
});

/** The events of their steps. */
export const ghostStepEvents = decoderOf<GhostStepEvent>({ GhostStepped: [], GhostStepsClosed: [] });
