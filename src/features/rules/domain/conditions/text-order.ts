/** Units whose order differs from that of the code points which they stand for: surrogates, and all units above them. */
const MOVED = /[\ud800-\uffff]/;
const [SURROGATES, ABOVE] = [0xd800, 0xe000];
/** How many units surrogates and the units above them span. */
const [SURROGATE_UNITS, ABOVE_UNITS] = [0x800, 0x2000];

/** Moves surrogates above all other units, and those down. */
const moved = (unit: number): number => {
  if (unit < SURROGATES) return unit;
  return unit < ABOVE ? unit + ABOVE_UNITS : unit - SURROGATE_UNITS;
};

/** A text whose order with others made by this function, by UTF-16 units, is the order of the texts by code point. */
export const orderKey = (text: string): string => {
  if (!MOVED.test(text)) return text;
  let key = '';
  for (let index = 0; index < text.length; index += 1) key += String.fromCharCode(moved(text.charCodeAt(index)));
  return key;
};
