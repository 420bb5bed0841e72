const UPPER_SNAKE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Whether a text is an action type: an upper-snake word of at most 64 characters (contract 2.3). */
export const isActionType = (text: string): boolean => UPPER_SNAKE.test(text);

/** An action type as models write it, in its proper form: `pick up` is `PICK_UP`. What is none stays none. */
export const toActionType = (text: string): string =>
  UPPER_SNAKE.test(text)
    ? text
    : text
        .trim()
        .replace(/[\s-]+/g, '_')
        .toUpperCase();
