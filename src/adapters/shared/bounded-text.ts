import { boundedBytes } from './bounded-bytes.js';

/** The text of an answer; null when it is longer than so many bytes, and then the connection is let go. */
export const boundedText = async (answer: Response, maxBytes: number): Promise<string | null> => {
  const bytes = await boundedBytes((answer.body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
  return bytes?.toString('utf8') ?? null;
};
