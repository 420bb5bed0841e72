import { yieldToEventLoop } from './yield-to-event-loop.js';

/**
 * The results of work on many items, in their order, a limited number at a time. Other work runs before each item is begun. After an error no item is
 * begun any more.
 * @throws the first error, once everything that was begun has ended
 */
export const mapLimited = async <Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  const failures: unknown[] = [];
  let next = 0;
  let turn = Promise.resolve();
  /** Two items are never begun without a pause between them. */
  const myTurn = (): Promise<void> => (turn = turn.then(yieldToEventLoop));
  const worker = async (): Promise<void> => {
    for (;;) {
      await myTurn();
      const at = next;
      if (at >= items.length || failures.length > 0) return;
      next += 1;
      try {
        results[at] = await work(items[at] as Item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
};
