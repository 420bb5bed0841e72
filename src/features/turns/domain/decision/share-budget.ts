/** What something would take, and its share of the room. */
export type Asking = { readonly need: number; readonly share: number };

/**
 * Shares room out: each gets what it needs, or its share of the room, and what one does not use goes to the others by their shares.
 * The result is in whole numbers, in the order of `asked`.
 */
export const shareOut = (room: number, asked: readonly Asking[]): readonly number[] => {
  const given = asked.map(() => 0);
  let left = Math.max(0, room);
  let waiting = asked.map((asking, at) => ({ ...asking, at }));
  for (;;) {
    const shares = waiting.reduce((sum, { share }) => sum + share, 0);
    const partOf = (share: number): number => (left * share) / shares;
    const content = waiting.filter(({ need, share }) => need <= partOf(share));
    if (content.length === 0) {
      for (const { share, at } of waiting) given[at] = Math.floor(partOf(share));
      return given;
    }
    for (const { need, at } of content) given[at] = need;
    left -= content.reduce((sum, { need }) => sum + need, 0);
    waiting = waiting.filter((one) => !content.includes(one));
  }
};
