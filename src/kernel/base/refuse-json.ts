import { Rejection } from './rejection.js';

/** The deepest nesting that is accepted; the outermost object or array counts as one. */
export const MAX_DEPTH = 32;

/** Members that contain model output. It ends where the tokens end, which may be in the middle of a character. */
export const MODEL_TEXTS: ReadonlySet<string> = new Set(['generatedOutput']);

/** How many characters of a name or number a refusal shows. */
const SHOWN_CHARS = 64;
const shown = (token: string): string => (token.length > SHOWN_CHARS ? `${token.slice(0, SHOWN_CHARS)}…` : token);

/** Refuses JSON that cannot be read; the reason is a sentence. */
export const refuseJson = (reason: string): Rejection => new Rejection('MALFORMED_JSON', { details: { reason } });

export const refuseInteger = (literal: string): Rejection =>
  refuseJson(`The integer ${shown(literal)} is too large to be stored exactly. Send it as a string.`);

export const refuseTwice = (name: string): Rejection =>
  refuseJson(`An object has two members named ${shown(JSON.stringify(name))}.`);

/** Why a text was refused, as a sentence. Rethrows anything but a Rejection. */
export const whyRefused = (thrown: unknown): string => {
  if (!(thrown instanceof Rejection)) throw thrown;
  const { reason } = thrown.details;
  return typeof reason === 'string' ? reason : thrown.message;
};
