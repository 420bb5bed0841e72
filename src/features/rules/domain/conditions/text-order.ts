/** The first units of surrogates, and of the code points above them that have one unit. Between these, the order of units is not that of code points. */
const [SURROGATES, ABOVE] = [0xd800, 0xe000];
/** How many units there are. */
const UNITS = 0x1_00_00;

/** The place of a unit in the order of code points: surrogates stand for code points above all others. */
const placeOf = (unit: number): number => (unit >= SURROGATES && unit < ABOVE ? unit + UNITS : unit);

/** How many UTF-16 units two texts have in common at their beginning. */
const commonUnits = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
};

/** The order of two texts by code point: negative, zero or positive. `looked`: how many units of each were compared. */
export const compareTexts = (one: string, other: string): { readonly compared: number; readonly looked: number } => {
  const at = commonUnits(one, other);
  const isOver = at === one.length || at === other.length;
  const compared = isOver ? one.length - other.length : placeOf(one.charCodeAt(at)) - placeOf(other.charCodeAt(at));
  return { compared, looked: at + 1 };
};
