import { boundedBytes } from './bounded-bytes.js';

/** The text of an answer; null if it is longer than the maximum in bytes, in which case the connection is closed. */
export const boundedText = async (answer: Response, maxBytes: number): Promise<string | null> => {
  const bytes = await boundedBytes((answer.body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
  return bytes?.toString('utf8') ?? null;
};
