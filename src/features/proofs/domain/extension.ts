import type { Checkpoint } from './checkpoint.js';
import { isConsistent } from './proofs.js';

/**
 * Why a checkpoint does not extend one that was kept; null if it does.
 * @param path the path between them; it is not needed if the kept one is of an empty log or has the same size
 */
export const extensionReason = (
  kept: Checkpoint,
  checkpoint: Checkpoint,
  path: readonly Uint8Array[],
): string | null => {
  if (kept.origin !== checkpoint.origin) return 'the kept checkpoint belongs to another log';
  if (kept.size > checkpoint.size)
    return 'the kept checkpoint is of a larger log: the log was truncated, or this is an older one';
  if (kept.size === checkpoint.size)
    return Buffer.from(kept.root).equals(checkpoint.root)
      ? null
      : 'the log was forked: the kept checkpoint has the same size but a different root';
  const { size: earlier, root: earlierRoot } = kept;
  const { size, root } = checkpoint;
  const isExtended = earlier === 0 || isConsistent({ earlier, earlierRoot, size, root, path });
  return isExtended ? null : 'the log does not extend the kept checkpoint: it was changed or forked';
};
