import { boundedBytes } from './bounded-bytes.js';

/**
 * The text of an answer; null if it is longer than the maximum in bytes, in which case the connection is closed.
 * @param hear gets each chunk as it arrives
 */
export const boundedText = async (
  answer: Response,
  maxBytes: number,
  hear: (chunk: Uint8Array) => void = () => undefined,
): Promise<string | null> => {
  const bytes = await boundedBytes((answer.body ?? []) as AsyncIterable<Uint8Array>, maxBytes, hear);
  return bytes?.toString('utf8') ?? null;
};
