import { Rejection } from './rejection.js';

/** Deepest nesting that is read: the outermost object or array counts as one (contract 1.2). */
export const MAX_DEPTH = 32;

/** The refusal of JSON that cannot be read; the reason is a sentence. */
export const refuseJson = (reason: string): Rejection => new Rejection('MALFORMED_JSON', { details: { reason } });

/** Why a text was refused, as a sentence. @throws what is no Rejection */
export const whyRefused = (thrown: unknown): string => {
  if (!(thrown instanceof Rejection)) throw thrown;
  const { reason } = thrown.details;
  return typeof reason === 'string' ? reason : thrown.message;
};
