/** A vector as it is stored: 4 bytes per number, little-endian like every supported machine. */
export const bytesOf = (vector: Float32Array): Buffer =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** The vector in these bytes; a copy, because the bytes may not be aligned for a vector. */
export const vectorOf = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
