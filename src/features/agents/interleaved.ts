/** Values that are pushed, for one reader. */
export type Pushed<Value> = {
  push(values: readonly Value[]): void;
  /** Settles as soon as there is a value. */
  some(): Promise<void>;
  /** All values since the last call, perhaps none. */
  taken(): readonly Value[];
};

export const createPushed = <Value>(): Pushed<Value> => {
  let values: Value[] = [];
  let wake: () => void = () => undefined;
  return {
    push: (more) => {
      values.push(...more);
      if (values.length > 0) wake();
    },
    some: () => (values.length > 0 ? Promise.resolve() : new Promise<void>((resolve) => (wake = resolve))),
    taken: () => {
      const all = values;
      values = [];
      return all;
    },
  };
};

/**
 * The values of an iterator and those that are pushed meanwhile, as they come. It ends with the iterator. Pushed values are taken only when they are
 * yielded, so whatever its reader has not seen yet is still there to be taken.
 */
export const interleaved = async function* <One, Other>(
  iterator: AsyncGenerator<One>,
  pushed: Pushed<Other>,
): AsyncGenerator<{ readonly one: One } | { readonly others: readonly Other[] }> {
  let next = iterator.next();
  try {
    for (;;) {
      const result = await Promise.race([next, pushed.some()]);
      if (result === undefined) {
        yield { others: pushed.taken() };
      } else {
        if (result.done === true) return;
        yield { one: result.value };
        next = iterator.next();
      }
    }
  } finally {
    // Its next value may never come, and its reader has left.
    void iterator.return(undefined).catch(() => undefined);
  }
};
