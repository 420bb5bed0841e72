type Closable = Disposable | AsyncDisposable;

/** Closes resources in reverse order of opening. Node 20 has no AsyncDisposableStack. */
export type Closers = AsyncDisposable & {
  /** Registers something that was opened, and returns it. */
  opened<T extends Closable>(thing: T): T;
};

/** An empty list. Closing continues after a failure and throws the first one at the end. Closing again does nothing. */
export const createClosers = (): Closers => {
  const things: Closable[] = [];
  return {
    opened(thing) {
      things.push(thing);
      return thing;
    },
    async [Symbol.asyncDispose]() {
      const failures: unknown[] = [];
      for (const thing of things.splice(0).reverse()) {
        try {
          if (Symbol.asyncDispose in thing) await thing[Symbol.asyncDispose]();
          else thing[Symbol.dispose]();
        } catch (failure) {
          failures.push(failure);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};
