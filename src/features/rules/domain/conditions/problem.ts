/** Why a condition or an action cannot be read, and the text that was probably meant. */
export type Problem = { readonly message: string; readonly meant?: string };

/** How much of a text a message quotes, in UTF-16 units. */
const QUOTED_CHARS = 64;
/** A longer suggestion is left out. */
const MEANT_CHARS = 256;

/** A text as a message shows it: quoted, and truncated if it is long. */
export const shownText = (text: string): string =>
  JSON.stringify(text.length <= QUOTED_CHARS ? text : `${text.slice(0, QUOTED_CHARS).toWellFormed()}…`);

/** Makes a problem. */
export const problem = (message: string, meant?: string): Problem =>
  meant === undefined || meant.length > MEANT_CHARS ? { message } : { message, meant };

/** Whether reading something gave a problem. */
export const isProblem = (read: object): read is Problem => 'message' in read;

/** A problem as a sentence. */
export const problemText = ({
  message,
  meant,
}: {
  readonly message: string;
  readonly meant?: string | undefined;
}): string => (meant === undefined ? message : `${message} Perhaps ${meant} was meant.`);
