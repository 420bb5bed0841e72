import { parseProcessId } from '../../../kernel/crypto/process-id.js';

/** Whether an id has the form of those that servers give memories: that of a command, or that of a turn with a number. */
export const isMemoryId = (id: string): boolean =>
  parseProcessId(id) !== null || parseProcessId(id.replace(/-\d{1,4}$/, '')) !== null;
