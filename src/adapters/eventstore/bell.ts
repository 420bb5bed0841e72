/** Wakes the waiting caller. */
export type Bell = {
  readonly ring: () => void;
  /** True at the next ring, false if `ms` passed first. */
  readonly next: (ms?: number) => Promise<boolean>;
};

/** Makes a bell. A ring without a waiting caller is lost, so check first, then wait. */
export const createBell = (): Bell => {
  let wake: (rung: boolean) => void = () => undefined;
  return {
    ring: () => wake(true),
    next: async (ms) => {
      let timer: NodeJS.Timeout | undefined;
      const rung = await new Promise<boolean>((resolve) => {
        wake = resolve;
        if (ms !== undefined) timer = setTimeout(() => resolve(false), ms);
      });
      clearTimeout(timer);
      return rung;
    },
  };
};
