import { isClientId, plainId } from '../domain/shared/client-id.js';

/**
 * The id in one segment of a path, percent-decoded once. Bytes sent without escapes are read as UTF-8, as the client meant them.
 * @returns null when the escapes are broken or the id is not valid (contract 1.6)
 */
export const decodeClientId = (segment: string): string | null => {
  if (plainId.test(segment)) return segment;
  const escaped = segment.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    const id = decodeURIComponent(escaped);
    return isClientId(id) ? id : null;
  } catch {
    return null;
  }
};
