const TYPE = /^[A-Z0-9_]{1,64}$/;
/** The maximum number of words in a type; more are a sentence. */
const WORDS = 3;

/** Whether a string is an action type in canonical form: 1 to 64 upper-case letters, digits and `_`. */
export const isActionType = (text: string): boolean => TYPE.test(text);

/** Converts an action type as models write it to its canonical form: `pick up` becomes `PICK_UP`. Returns any other string unchanged. */
export const toActionType = (text: string): string => {
  const written = text.trim();
  if (TYPE.test(written) || written.split(/ +/).length > WORDS) return written;
  const type = written.replace(/[ -]+/g, '_').toUpperCase();
  return TYPE.test(type) ? type : written;
};
