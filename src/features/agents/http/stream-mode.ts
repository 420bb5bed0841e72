import type { Call } from '../../../kernel/http/route.js';
import { headerWarning } from '../../../kernel/http/warning.js';
import { Rejection } from '../../../kernel/base/rejection.js';

const MODES = ['verified', 'provisional'] as const;
/** When a stream has the dialogue: once the verdict is recorded, or while the engine still writes it. */
export type StreamMode = (typeof MODES)[number];

const HEADER = 'X-Anima-Stream';

/** A warning to a client that asks for sentences while the engine writes, but for no stream. */
export const streamWarning = (call: Pick<Call, 'header'>): Record<string, string> =>
  (call.header(HEADER)?.trim().toLowerCase() ?? 'verified') === 'verified' ? {} : headerWarning(HEADER);

/** The mode that a request asks for. @throws Rejection HEADER_INVALID */
export const streamMode = (call: Pick<Call, 'header'>): StreamMode => {
  const asked = call.header(HEADER)?.trim().toLowerCase() ?? 'verified';
  const mode = MODES.find((one) => one === asked);
  if (mode !== undefined) return mode;
  throw new Rejection('HEADER_INVALID', {
    message: `${HEADER} must be "verified" or "provisional".`,
    details: { header: HEADER },
  });
};
