import { parseProcessId } from '../../../kernel/crypto/process-id.js';

const NUMBER = /-\d{1,4}$/;

/** Whether an id has the form of those that servers give memories: that of a command, or that of a turn with a number. */
export const isMemoryId = (id: string): boolean =>
  parseProcessId(id) !== null || parseProcessId(id.replace(NUMBER, '')) !== null;

/** The turn that gave a memory its id; undefined if none did. */
export const turnOfMemory = (memoryId: string): string | undefined =>
  NUMBER.test(memoryId) ? memoryId.replace(NUMBER, '') : undefined;
