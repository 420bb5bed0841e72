/**
 * The bytes of a body; null if there are more than the maximum, in which case the rest is not read.
 * @param hear gets each chunk as it arrives
 */
export const boundedBytes = async (
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  hear: (chunk: Uint8Array) => void = () => undefined,
): Promise<Buffer | null> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null;
    hear(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
