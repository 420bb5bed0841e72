import { sha256Hex } from './sha256.js';
/**
 * A UUID version 8 (RFC 9562). Its leading 48 bits are a time, so ids insert in order; the rest is a digest of `content`. The same time and content
 * make the same id, by which a store recognises a repeat; a different event at the same revision has a different id.
 */
export const derivedUuid = (timeMs: number, content: string): string => {
  const digest = sha256Hex(content);
  const time = Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, '0').slice(-12);
  const variant = ((parseInt(digest.charAt(3), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
};
