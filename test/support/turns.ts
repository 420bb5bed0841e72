/** How many turns of the event loop other work had during some work. */
export const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
};
