/** The members of an action that say nothing of what it is about, other than its payload. */
export const ACTION_MEMBERS: readonly string[] = ['type', 'target', 'reason', 'confidence', 'payload', 'signature'];
