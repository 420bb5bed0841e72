// Reads the file that scripts/convert-encoder.ts wrote. Plain JavaScript, as run-model.mjs is.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The sections of a model by name: pieces, vectors and matrices. */
export const readModel = (file) => {
  const { buffer, byteOffset, byteLength } = gunzipSync(readFileSync(file));
  // Numbers are aligned from its beginning.
  const whole = byteOffset % 4 === 0 ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  const first = byteOffset % 4 === 0 ? byteOffset : 0;
  const headerBytes = new DataView(whole, first).getUint32(0, true);
  const header = JSON.parse(Buffer.from(whole, first + 4, headerBytes).toString());
  const from = first + 4 + headerBytes;
  const floats = (name) => new Float32Array(whole, from + header[name].at, header[name].bytes / 4);
  return {
    epsilon: header.epsilon.value,
    pieces: Buffer.from(whole, from + header.pieces.at, header.pieces.bytes)
      .toString()
      .split('\n'),
    table: new Uint8Array(whole, from + header.table.at, header.table.bytes),
    vector: floats,
    matrix: (name) => {
      const { at, bytes, scale } = header[name];
      const quantized = new Int16Array(whole, from + at, bytes / 2);
      const values = new Float32Array(quantized.length);
      // Not Float32Array.from, which would take a third of the time that loading takes.
      for (let place = 0; place < values.length; place += 1) values[place] = quantized[place] * scale;
      return values;
    },
  };
};
