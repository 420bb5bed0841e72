import { sha256Base64url } from '../crypto/sha256.js';

/** The strong tag of a content. */
export const tagOf = (content: string): string => `"${sha256Base64url(content)}"`;

/** Whether `If-None-Match` names this tag (RFC 9110, 13.1.2: a proxy may have made it a weak one). */
export const namesTag = (header: string, etag: string): boolean =>
  header
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');
