/** A vector as it is stored: 4 bytes a number, little-endian as on every machine that this runs on. */
export const bytesOf = (vector: Float32Array): Buffer =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** The vector that these bytes are; a copy, since they need not lie where a vector may begin. */
export const vectorOf = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
