import { Rejection } from './rejection.js';

/** The deepest nesting that is accepted; the outermost object or array counts as one. */
export const MAX_DEPTH = 32;

/** Members that hold what a model wrote. It is cut off where its tokens end, which may be inside of a character. */
export const MODEL_TEXTS: ReadonlySet<string> = new Set(['generatedOutput']);

/** How much of a name or number a refusal shows, in characters. */
const SHOWN_CHARS = 64;
const shown = (token: string): string => (token.length > SHOWN_CHARS ? `${token.slice(0, SHOWN_CHARS)}…` : token);

/** The refusal of JSON that cannot be read; the reason is a sentence. */
export const refuseJson = (reason: string): Rejection => new Rejection('MALFORMED_JSON', { details: { reason } });

export const refuseInteger = (literal: string): Rejection =>
  refuseJson(`The integer ${shown(literal)} is too large to be kept exactly: send it as a text.`);

export const refuseTwice = (name: string): Rejection =>
  refuseJson(`The member ${shown(JSON.stringify(name))} comes twice in one object.`);

/** Why a text was refused, as a sentence. @throws what is no Rejection */
export const whyRefused = (thrown: unknown): string => {
  if (!(thrown instanceof Rejection)) throw thrown;
  const { reason } = thrown.details;
  return typeof reason === 'string' ? reason : thrown.message;
};
