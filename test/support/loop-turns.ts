/** Counts the turns of the event loop from now on, until it is disposed of. The count grows whenever work yields. */
export const countTurns = () => {
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    running = setImmediate(turn);
  };
  let running = setImmediate(turn);
  return {
    get count(): number {
      return turns;
    },
    [Symbol.dispose]: () => clearImmediate(running),
  };
};
