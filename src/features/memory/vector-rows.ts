import type { OrderRange } from '../../ports/read-models.js';
import type { StoredVector } from '../../ports/row-search.js';

/** Bytes of vectors that are compared with a query in one go. This blocks the event loop for at most two milliseconds. */
export const SLICE_BYTES = 4 * 1024 * 1024;
/** The memory of a row in addition to its vector and the characters of its key and order, in bytes. */
const ROW_BYTES = 96;
/** How many vectors the first slice of a mind has room for; a full one grows. */
const FIRST_ROWS = 16;
const BYTES_PER_NUMBER = Float32Array.BYTES_PER_ELEMENT;

/** Consecutive vectors, and the index of the first one among the rows. */
export type VectorSlice = { readonly matrix: Float32Array; readonly first: number };

/** A read-only view of rows. */
export type VectorRowsView = Omit<VectorRows, 'add'>;

/**
 * The rows of a mind that have a vector, by ascending order. Rows are only appended, so a slice that was handed out never changes. Orders are made by
 * `revisionOrder` (src/kernel/read-models/row-order.ts): digits that sort like numbers.
 */
export class VectorRows {
  #keys: string[] = [];
  #orders: string[] = [];
  #matrices: Float32Array[] = [];
  #count = 0;
  #dimensions = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  /** The length of each vector; 0 if there is none. */
  get dimensions(): number {
    return this.#dimensions;
  }

  /** The approximate memory of all of this, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** '' if there is none. */
  get lastOrder(): string {
    return this.#orders[this.#count - 1] ?? '';
  }

  /** These rows at this moment, unaffected by later additions. Nothing is copied. */
  get asTheyAre(): VectorRowsView {
    const view = new VectorRows();
    view.#keys = this.#keys;
    view.#orders = this.#orders;
    view.#matrices = this.#matrices;
    view.#count = this.#count;
    view.#dimensions = this.#dimensions;
    view.#bytes = this.#bytes;
    return view;
  }

  keyOf(row: number): string {
    return this.#keys[row] ?? '';
  }

  orderOf(row: number): string {
    return this.#orders[row] ?? '';
  }

  has(order: string): boolean {
    return this.#orders[this.#after(order) - 1] === order;
  }

  /** Adds a row after all others. A vector whose length differs from the first is useless, so its row is left out. */
  add({ key, order, vector }: StoredVector): void {
    if (this.count === 0) this.#dimensions = vector.length;
    if (vector.length !== this.#dimensions || vector.length === 0) return;
    const perSlice = this.#perSlice();
    const at = this.count % perSlice;
    const slice = Math.floor(this.count / perSlice);
    this.#roomIn(slice, at, perSlice).set(vector, at * this.#dimensions);
    this.#keys.push(key);
    this.#orders.push(order);
    this.#count += 1;
    this.#bytes += ROW_BYTES + 2 * (key.length + order.length);
  }

  /** The vectors of the rows in a range, in slices of at most SLICE_BYTES. */
  *slices({ above = '', upTo }: OrderRange): Generator<VectorSlice, void, undefined> {
    const end = upTo === undefined ? this.count : this.#after(upTo);
    const perSlice = this.#perSlice();
    for (let first = above === '' ? 0 : this.#after(above); first < end;) {
      const slice = Math.floor(first / perSlice);
      const next = Math.min(end, (slice + 1) * perSlice);
      const [from, to] = [first - slice * perSlice, next - slice * perSlice];
      const matrix = this.#matrices[slice] as Float32Array;
      yield { matrix: matrix.subarray(from * this.#dimensions, to * this.#dimensions), first };
      first = next;
    }
  }

  #perSlice(): number {
    return Math.max(1, Math.floor(SLICE_BYTES / (BYTES_PER_NUMBER * Math.max(1, this.#dimensions))));
  }

  /** The slice, with room for a row at an index: a full one is copied into one twice as long. */
  #roomIn(slice: number, at: number, perSlice: number): Float32Array {
    const matrix = this.#matrices[slice];
    if (matrix !== undefined && (at + 1) * this.#dimensions <= matrix.length) return matrix;
    // All slices except the last are full, so a mind with one full slice gets the next one at full size.
    const rows = slice > 0 ? perSlice : Math.min(perSlice, Math.max(FIRST_ROWS, 2 * at));
    const grown = new Float32Array(rows * this.#dimensions);
    if (matrix !== undefined) grown.set(matrix);
    this.#matrices[slice] = grown;
    this.#bytes += grown.byteLength - (matrix?.byteLength ?? 0);
    return grown;
  }

  /** How many rows have this order or a lower one. */
  #after(order: string): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#orders[middle] ?? '') <= order) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
