/**
 * How many bytes of memories are searched for players before other work runs, each memory counting as MEMORY_WORK more: a few milliseconds of work.
 */
const SLICE_BYTES = 32_768;
const MEMORY_WORK = 256;

/** Decides after each memory of the given size whether a pause is due. A memory itself is not divided. */
export const memoryPauses = (): ((bytes: number) => boolean) => {
  let unpaused = 0;
  return (bytes) => {
    unpaused += bytes + MEMORY_WORK;
    if (unpaused < SLICE_BYTES) return false;
    unpaused = 0;
    return true;
  };
};
