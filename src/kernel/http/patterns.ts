import { TIMESTAMP } from '../base/timestamp.js';

/** The ids of payloads in archives. */
export const TX_ID = '^[A-Za-z0-9_-]+$';
export const TENANT_ID = '^[a-z0-9_-]{1,64}$';
/** At most 64 types, separated by commas. */
export const TYPES = '^[^,]*(,[^,]*){0,63}$';
/** The number of leaves of a tree, in decimal. */
export const TREE_SIZE = '^(0|[1-9][0-9]{0,14})$';

const sentences: Readonly<Record<string, string>> = {
  [TIMESTAMP]: 'must be an RFC 3339 timestamp, such as 2026-01-31T12:00:00Z',
  [TX_ID]: 'must consist of the characters A-Z, a-z, 0-9, "_" and "-"',
  [TENANT_ID]: 'must be 1 to 64 of the characters a-z, 0-9, "_" and "-"',
  [TYPES]: 'must be at most 64 types, separated by commas',
  [TREE_SIZE]: 'must be a whole number of at most 15 digits, without leading zeros',
};

/** The message for a text that does not match a pattern; undefined for a pattern without one. */
export const sentenceOf = (pattern: string): string | undefined => sentences[pattern];
