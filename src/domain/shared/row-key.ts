/**
 * The key of a row: its stream and, behind a slash, its id within it; the stream alone where that is ''. No stream's name has a slash, so no two
 * streams share a key.
 */
export const rowKey = (stream: string, id: string): string => (id === '' ? stream : `${stream}/${id}`);
