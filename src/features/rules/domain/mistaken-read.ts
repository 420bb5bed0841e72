/** A condition on a member of the state that is probably meant to be on something else: `price` in place of `action.payload.price`. */
export type MistakenRead = { readonly drRuleId: string; readonly key: string; readonly meant: string };

/** Each key of a rule once. */
export const distinctReads = (reads: readonly MistakenRead[]): readonly MistakenRead[] => [
  ...new Map(reads.map((read) => [JSON.stringify([read.drRuleId, read.key, read.meant]), read])).values(),
];
