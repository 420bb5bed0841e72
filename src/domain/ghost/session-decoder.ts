import { decoderOf } from '../shared/decoder.js';
import type { GhostEvent, GhostStepEvent } from './session-events.js';

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
