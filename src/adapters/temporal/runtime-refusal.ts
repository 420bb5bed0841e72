import { Rejection } from '../../kernel/base/rejection.js';

/** The refusal of an update that Temporal, or its workers, do not answer in time, or that is one too many. A crowd gets it at the same moment. */
export const runtimeRefusal = (code: 'BUSY' | 'ENGINE_UNAVAILABLE'): Rejection =>
  new Rejection(code, { retryAfter: 1, retrySpread: 2 });
