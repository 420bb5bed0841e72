/** Values that are pushed, for one reader. */
export type Pushed<Value> = {
  push(values: readonly Value[]): void;
  /** All values since the last call, as soon as there is one. */
  take(): Promise<readonly Value[]>;
  /** All values since the last call, perhaps none. */
  taken(): readonly Value[];
};

export const createPushed = <Value>(): Pushed<Value> => {
  let values: Value[] = [];
  let wake: () => void = () => undefined;
  const taken = (): readonly Value[] => {
    const all = values;
    values = [];
    return all;
  };
  return {
    taken,
    push: (more) => {
      values.push(...more);
      if (values.length > 0) wake();
    },
    take: async () => {
      if (values.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return taken();
    },
  };
};

/** The values of an iterator and those that are pushed meanwhile, as they come. It ends with the iterator. */
export const interleaved = async function* <One, Other>(
  iterator: AsyncGenerator<One>,
  pushed: Pushed<Other>,
): AsyncGenerator<{ readonly one: One } | { readonly other: Other }> {
  let next = iterator.next();
  let more = pushed.take();
  try {
    for (;;) {
      const first = await Promise.race([
        next.then((result) => ({ result, others: null })),
        more.then((others) => ({ result: null, others })),
      ]);
      if (first.others !== null) {
        more = pushed.take();
        for (const other of first.others) yield { other };
      } else {
        if (first.result.done === true) return;
        yield { one: first.result.value };
        next = iterator.next();
      }
    }
  } finally {
    // Its next value may never come, and its reader has left.
    void iterator.return(undefined).catch(() => undefined);
  }
};
