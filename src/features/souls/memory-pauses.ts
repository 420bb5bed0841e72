/**
 * How many bytes of memories are looked through for players before others have their turn, each memory counting as MEMORY_WORK more: a few milliseconds
 * of work.
 */
const SLICE_BYTES = 32_768;
const MEMORY_WORK = 256;

/** Says of one memory of so many bytes after the other whether a pause is due after it. A memory itself is not divided. */
export const memoryPauses = (): ((bytes: number) => boolean) => {
  let unpaused = 0;
  return (bytes) => {
    unpaused += bytes + MEMORY_WORK;
    if (unpaused < SLICE_BYTES) return false;
    unpaused = 0;
    return true;
  };
};
