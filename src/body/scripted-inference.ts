import { InferenceError, type Inference } from './inference.js';

/** `when`: a text that must occur, or a pattern that must match. `answers`: returned one after the other; the last one is repeated. */
export type ScriptEntry = { readonly when: string | RegExp; readonly answers: readonly string[] };

const DEFAULT_REPLY = 'Hm.';

const matches = (when: string | RegExp, text: string): boolean =>
  // A pattern with the flag g or y keeps a position; search() does not use it.
  typeof when === 'string' ? text.includes(when) : text.search(when) >= 0;

/**
 * A scripted model: the first entry that matches the observation (or the prompt, if there is none) answers.
 * Deterministic: the same calls in the same order get the same texts. If no entry matches, the answer is `fallback`.
 */
export const createScriptedInference = (
  script: readonly ScriptEntry[],
  fallback: string = DEFAULT_REPLY,
): Inference => {
  const given = new Map<ScriptEntry, number>();
  return {
    complete: ({ prompt, observation, signal }) => {
      if (signal?.aborted === true)
        return Promise.reject(new InferenceError('aborted', 'The model call was cancelled.'));
      const entry = script.find(({ when }) => matches(when, observation ?? prompt));
      if (entry === undefined) return Promise.resolve(fallback);
      const turn = given.get(entry) ?? 0;
      given.set(entry, turn + 1);
      return Promise.resolve(entry.answers[Math.min(turn, entry.answers.length - 1)] ?? fallback);
    },
  };
};
