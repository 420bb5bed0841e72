/** How long the part of a file's name that is made from an id may be, in characters. */
const FILE_NAME_CHARS = 64;

/** A file name that is valid on every system, made from an id. */
export const fileName = (id: string, extension: string): string =>
  `${id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, FILE_NAME_CHARS)}.${extension}`;
