import { decoderOf } from '../shared/decoder.js';
import type { LogEvent } from './log-events.js';

/** The events of the logs of tenants. */
export const logEvents = decoderOf<LogEvent>({
  CheckpointBegun: [],
  LeavesLogged: [],
  CheckpointSigned: [],
  CheckpointsHandedOn: [],
});
