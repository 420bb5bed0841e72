import { Rejection } from '../../kernel/base/rejection.js';

/** The refusal of an update that Temporal or its workers do not answer in time, or that exceeds a limit. A crowd gets it at the same moment. */
export const runtimeRefusal = (code: 'BUSY' | 'ENGINE_UNAVAILABLE'): Rejection =>
  new Rejection(code, { retryAfter: 1, retrySpread: 2 });
