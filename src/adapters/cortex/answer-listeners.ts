/** Who wants to know that an engine has answered. */
export type AnswerListeners = {
  /** Returns a function that ends the listening. */
  readonly add: (listener: () => void) => () => void;
  readonly notify: () => void;
};

export const createAnswerListeners = (): AnswerListeners => {
  const listeners = new Set<() => void>();
  return {
    add: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify: () => {
      for (const listener of [...listeners]) listener();
    },
  };
};
