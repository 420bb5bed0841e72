import { cutText } from '../../../../kernel/base/text.js';

/**
 * How many names a refusal lists, and how much of each name it shows, in UTF-16 units. With these bounds all checks fit into CHECKS_BYTES (trace.ts).
 */
const LISTED_NAMES = 50;
const NAME_CHARS = 100;
/** The limit of the names of one list together, in bytes of JSON. */
const LISTED_BYTES = 4_096;

/** A name as a refusal shows it. */
export const shortName = (name: string): string => cutText(name, NAME_CHARS);

/** Names as a refusal lists them; `…` marks that some are left out. */
export const shortList = (names: readonly string[]): readonly string[] => {
  const shown = names.slice(0, LISTED_NAMES).map(shortName);
  let left = LISTED_BYTES;
  const fitting = shown.findIndex((name) => {
    left -= new TextEncoder().encode(JSON.stringify(name)).length + 1;
    return left < 0;
  });
  return [
    ...shown.slice(0, fitting === -1 ? shown.length : fitting),
    ...(names.length > LISTED_NAMES || fitting !== -1 ? ['…'] : []),
  ];
};
