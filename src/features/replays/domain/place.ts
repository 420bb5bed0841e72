/** A decision by its location; `turnId` is null for a check of the bridge. */
export type ReplayPlace = { readonly npcId: string; readonly turnId: string | null; readonly revision: number };

/** By NPC, then by revision: the same order whichever came first. */
export const byPlace = (one: ReplayPlace, other: ReplayPlace): number => {
  if (one.npcId !== other.npcId) return one.npcId < other.npcId ? -1 : 1;
  return one.revision - other.revision;
};
