/** Runs tasks of one name one after the other; tasks of different names do not wait for each other. */
export type Sequencer = {
  /** Whether no task of this name runs or waits. */
  readonly idle: (name: string) => boolean;
  readonly run: <Result>(name: string, task: () => Promise<Result>) => Promise<Result>;
};

/** Makes a sequencer. A failed task does not hold up the next ones. */
export const sequencer = (): Sequencer => {
  const last = new Map<string, Promise<unknown>>();
  return {
    idle: (name) => !last.has(name),
    run: (name, task) => {
      const before = last.get(name);
      const mine = before === undefined ? task() : before.then(task, task);
      const ended = (): void => {
        if (last.get(name) === mine) last.delete(name);
      };
      last.set(name, mine);
      mine.then(ended, ended);
      return mine;
    },
  };
};
