import type { Json } from '../../../../kernel/base/json.js';
import type { Effort } from './effort.js';
import { compareQuantities, decidingDouble, isVague, type Quantity, quantityOf } from './numbers.js';
import type { Reached } from './reach.js';
import { compareTexts } from './text-order.js';

/** The ends of some numbers; undefined if there are none. */
type Extremes = {
  readonly least: Quantity | undefined;
  readonly greatest: Quantity | undefined;
  /** Whether some values are no numbers. */
  readonly hasOthers: boolean;
  /** Whether some numbers cannot be compared exactly. They are left out. */
  readonly hasVague: boolean;
};

const extremesOf = (quantities: readonly (Quantity | null)[]): Extremes => {
  let least: Quantity | undefined;
  let greatest: Quantity | undefined;
  let [hasOthers, hasVague] = [false, false];
  for (const quantity of quantities) {
    if (quantity === null) hasOthers = true;
    else if (isVague(quantity)) hasVague = true;
    else {
      if (least === undefined || compareQuantities(quantity, least) < 0) least = quantity;
      if (greatest === undefined || compareQuantities(quantity, greatest) > 0) greatest = quantity;
    }
  }
  return { least, greatest, hasOthers, hasVague };
};

/** What a path led to, for tests. Each value is read as a number when a test first needs it. */
export class View {
  readonly reached: Reached;
  readonly values: readonly Json[];
  #quantities: readonly (Quantity | null)[] | null = null;
  #doubles: Float64Array | null = null;
  #extremes: Extremes | null = null;
  readonly #effort: Effort;

  constructor(reached: Reached, effort: Effort) {
    this.#effort = effort;
    this.reached = reached;
    this.values = reached.values;
  }

  /** Each value as a number; null for one that is none. */
  get quantities(): readonly (Quantity | null)[] {
    this.#quantities ??= this.values.map(quantityOf);
    return this.#quantities;
  }

  /** Each value as a double for `decidingDouble`, side by side, so that a long list is compared quickly. */
  get doubles(): Float64Array {
    this.#doubles ??= Float64Array.from(this.quantities, decidingDouble);
    return this.#doubles;
  }

  /** The least and the greatest number, which answer every order: some number is below 5 if the least is. */
  get extremes(): Extremes {
    this.#extremes ??= extremesOf(this.quantities);
    return this.#extremes;
  }

  /** The order of the value at a place and a text, by code point; an error if it is no text, or if the decision cannot afford it. */
  comparedText(at: number, to: string): number | 'notText' | 'tooMuch' {
    const value = this.values[at];
    if (typeof value !== 'string') return 'notText';
    if (this.#effort.characters <= 0) return 'tooMuch';
    const { compared, looked } = compareTexts(value, to);
    this.#effort.characters -= looked;
    return compared;
  }
}
