/** The bytes of a body; null if there are more than the maximum, in which case the rest is not read. */
export const boundedBytes = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
