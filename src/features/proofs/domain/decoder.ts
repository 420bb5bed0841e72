import { decoderOf } from '../../../kernel/base/decoder.js';
import type { LogEvent } from './events.js';

/** The events of the logs of tenants. */
export const logEvents = decoderOf<LogEvent>({
  CheckpointBegun: [],
  LeavesLogged: [],
  CheckpointSigned: [],
  CheckpointsHandedOn: [],
});
