/**
 * The key of a row: its stream, a slash, and its id within the stream; only the stream if the id is ''. No stream's name has a slash, so no two
 * streams share a key.
 */
export const rowKey = (stream: string, id: string): string => (id === '' ? stream : `${stream}/${id}`);
