/**
 * The kinds of differences. `otherReason`: refused both times, for different reasons. `otherTrace`: decided the same, but the rules that were
 * examined, or what they saw, differ.
 */
export const differenceKinds = [
  'newlyRefused',
  'newlyAllowed',
  'otherAction',
  'otherState',
  'otherReason',
  'otherRecall',
  'otherPrompt',
  'otherTrace',
] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

/**
 * `logic`: decided by a logic that this server does not have; `rules`: their version is not available; `turn`: the turn's opening is not in the
 * stream.
 */
export const skipReasons = ['logic', 'rules', 'turn'] as const;
export type SkipReason = (typeof skipReasons)[number];
