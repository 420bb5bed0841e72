const TYPE = /^[A-Z0-9_]{1,64}$/;
/** How many words a type is written in at most; more are a sentence. */
const WORDS = 3;

/** Whether a text is an action type in its proper form: 1 to 64 upper-case letters, digits and `_` (contract 2.8). */
export const isActionType = (text: string): boolean => TYPE.test(text);

/** An action type as models write it, in its proper form: `pick up` is `PICK_UP` (contract 2.8). Any other text comes back unchanged. */
export const toActionType = (text: string): string => {
  const written = text.trim();
  if (TYPE.test(written) || written.split(/ +/).length > WORDS) return written;
  const type = written.replace(/[ -]+/g, '_').toUpperCase();
  return TYPE.test(type) ? type : written;
};
