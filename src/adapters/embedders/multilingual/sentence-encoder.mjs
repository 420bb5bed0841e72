// Makes the vector of a text with Google's universal-sentence-encoder-multilingual v3: vectors of pieces, convolutions over 2, 3 and 5 of them, their
// sum, and a network of four layers. Plain JavaScript, as run-model.mjs is; the products of matrices are WebAssembly.
import { readFileSync } from 'node:fs';

import { readModel } from './model-file.mjs';
import { createTokenizer } from './sentence-pieces.mjs';

const FLOAT = 4;
const PAGE = 65_536;
/** The columns of a panel, and the rows of a group (multiply.wat). */
const PANEL = 8;
const GROUP = 4;

const DIMENSIONS = 512;
const WIDTH = 256;
/** The table of vectors has chunks, each quantized by itself: piece p is row floor(p / CHUNKS) of chunk p % CHUNKS. */
const CHUNKS = 17;
/** The convolutions: how many pieces each reads, and how many of those are before its own. */
const CONVOLUTIONS = [
  { order: 2, before: 0 },
  { order: 3, before: 1 },
  { order: 5, before: 2 },
];
const BEFORE = 2;
const AFTER = 2;
const WIDTHS = CONVOLUTIONS.length * WIDTH;
const FEATURES = DIMENSIONS + WIDTHS;
const HIDDEN = 320;

/**
 * The scripts of the languages that the model was trained with. Of others its table has hardly more than single letters, so its vectors say nothing.
 */
const KNOWN =
  /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Arab}\p{sc=Zyyy}\p{sc=Zinh}]/gu;
const LETTER = /\p{L}/gu;

/** Whether most letters of a text, if it has any, are of scripts that the model knows. */
const isKnown = (text) => {
  const letters = text.match(LETTER) ?? [];
  return 2 * (letters.join('').match(KNOWN)?.length ?? 0) >= letters.length;
};

/** Memory of a WebAssembly module that only grows. */
const createMemory = (memory) => {
  let end = 0;
  return {
    /** The address of room for this many numbers, aligned for vectors. */
    take: (numbers) => {
      const address = end;
      end += (FLOAT * numbers + 15) & ~15;
      const missing = end - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return address;
    },
    /** A view that is valid until the next call of `take`. */
    view: (address, numbers) => new Float32Array(memory.buffer, address, numbers),
  };
};

/** Normalizes a row: its mean becomes 0 and its variance 1; then it is scaled and shifted. */
const normalize = (row, gain, shift, epsilon) => {
  let sum = 0;
  for (const value of row) sum += value;
  const mean = sum / row.length;
  let squares = 0;
  for (const value of row) squares += (value - mean) ** 2;
  const factor = 1 / Math.sqrt(squares / row.length + epsilon);
  for (let at = 0; at < row.length; at += 1) row[at] = (row[at] - mean) * factor * gain[at] + shift[at];
};

/**
 * @param {string} folder of the model and the WebAssembly
 * @returns {(text: string) => Float32Array} the vector of a text; of zeros, which have no direction, if the model does not know its script
 */
export const createSentenceEncoder = (folder) => {
  const model = readModel(new URL('model.gz', folder));
  const { table, epsilon } = model;
  const chunkRows = table.length / DIMENSIONS / CHUNKS;
  const tokenize = createTokenizer(model.pieces, model.vector('scores'));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(new URL('multiply.wasm', folder))));
  const { take, view } = createMemory(exports.memory);

  const placed = (values) => {
    const address = take(values.length);
    view(address, values.length).set(values);
    return address;
  };
  /** A matrix in panels, with the bias that products begin with. */
  const layer = (weights, columns, bias = new Float32Array(columns)) => {
    const rows = weights.length / columns;
    const panels = new Float32Array(weights.length);
    let to = 0;
    for (let panel = 0; panel < columns; panel += PANEL)
      for (let row = 0; row < rows; row += 1)
        for (let column = panel; column < panel + PANEL; column += 1) panels[to++] = weights[row * columns + column];
    return { weights: placed(panels), bias: placed(bias), rows, panels: columns / PANEL };
  };
  const multiply = ({ weights, bias, rows, panels }, { from, fromRow, count, to, toRow }) =>
    exports.multiply(from, FLOAT * fromRow, Math.ceil(count / GROUP), rows, weights, bias, panels, to, FLOAT * toRow);

  const convolutions = CONVOLUTIONS.map(({ order, before }) => {
    const named = (name) => model.vector(`${name}${order}`);
    return {
      before,
      projection: layer(model.matrix(`proj${order}`), WIDTH, named('proj_b')),
      first: layer(model.matrix(`w1_${order}`), WIDTH, named('b1_')),
      second: layer(model.matrix(`w2_${order}`), WIDTH, named('b2_')),
    };
  });
  const joined = (name) => Float32Array.from(CONVOLUTIONS.flatMap(({ order }) => [...model.vector(`${name}${order}`)]));
  const [inputGain, inputShift] = [joined('ln_g'), joined('ln_b')];
  const [gain, shift, scales, lows] = ['ln_g', 'ln_b', 'scale', 'lo'].map(model.vector);
  const meanBias = model.vector('cnn_b');
  const [mean, d0, d1, p1, d2, p3, d3] = Object.entries({
    cnn_W: DIMENSIONS,
    d0: HIDDEN,
    d1: HIDDEN,
    p1: HIDDEN,
    d2: DIMENSIONS,
    p3: DIMENSIONS,
    d3: DIMENSIONS,
  }).map(([name, columns]) => layer(model.matrix(name), columns));
  /** Room for the vectors of one text, which are rows of a group. */
  const single = Array.from({ length: 2 }, () => take(GROUP * FEATURES));

  /** The product of a vector with a matrix. */
  const product = (vector, by) => {
    const [from, to] = single;
    view(from, vector.length).set(vector);
    const columns = by.panels * PANEL;
    multiply(by, { from, fromRow: 0, count: 1, to, toRow: columns });
    return view(to, columns).slice();
  };
  const positive = (vector) => vector.map((value) => Math.max(0, value));
  const sumOf = (one, other) => one.map((value, at) => value + other[at]);

  let rooms = 0;
  let [pieceRows, projectedRows, inputRows, hiddenRows, outputRows] = [0, 0, 0, 0, 0];
  /** Makes room for this many pieces, in whole groups, with rows of zeros before and after them. */
  const makeRoom = (count) => {
    const groups = Math.ceil(count / GROUP) * GROUP;
    if (groups <= rooms) return;
    rooms = 2 * groups;
    pieceRows = take(rooms * DIMENSIONS);
    projectedRows = take(rooms * WIDTHS);
    inputRows = take((BEFORE + rooms + GROUP + AFTER) * WIDTH);
    hiddenRows = take((BEFORE + rooms + GROUP + AFTER) * WIDTH);
    outputRows = take(rooms * WIDTH);
  };

  /** Adds what is positive in `added` to `rows`. */
  const addPositive = (rows, added) => {
    for (let at = 0; at < rows.length; at += 1) rows[at] += Math.max(0, added[at]);
  };

  /** The features of each piece, row after row. */
  const featuresOf = (numbers) => {
    const count = numbers.length;
    makeRoom(count);
    const features = new Float32Array(count * FEATURES);
    const vectors = view(pieceRows, count * DIMENSIONS);
    for (const [row, number] of numbers.entries()) {
      const chunk = number % CHUNKS;
      const [scale, low] = [scales[chunk], lows[chunk]];
      const from = (chunk * chunkRows + Math.floor(number / CHUNKS)) * DIMENSIONS;
      for (let at = 0; at < DIMENSIONS; at += 1) vectors[row * DIMENSIONS + at] = table[from + at] * scale + low;
      features.set(vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS), row * FEATURES);
    }
    for (const [at, { projection }] of convolutions.entries()) {
      const to = projectedRows + FLOAT * at * WIDTH;
      multiply(projection, { from: pieceRows, fromRow: DIMENSIONS, count, to, toRow: WIDTHS });
    }
    const projected = view(projectedRows, count * WIDTHS);
    for (let row = 0; row < count; row += 1)
      normalize(projected.subarray(row * WIDTHS, (row + 1) * WIDTHS), inputGain, inputShift, epsilon);
    const inner = (rows) => rows + FLOAT * BEFORE * WIDTH;
    const [input, hidden] = [view(inner(inputRows), count * WIDTH), view(inner(hiddenRows), count * WIDTH)];
    /** Products fill whole groups; the rows after the last piece have to be zeros again. */
    const clearAfter = (rows) => view(inner(rows) + FLOAT * count * WIDTH, (GROUP + AFTER - 1) * WIDTH).fill(0);
    const output = view(outputRows, count * WIDTH);
    for (const [at, { before, ...by }] of convolutions.entries()) {
      const place = at * WIDTH;
      for (let row = 0; row < count; row += 1)
        input.set(projected.subarray(row * WIDTHS + place, row * WIDTHS + place + WIDTH), row * WIDTH);
      clearAfter(inputRows);
      const window = (rows) => ({ from: inner(rows) - FLOAT * before * WIDTH, fromRow: WIDTH, count });
      multiply(by.first, { ...window(inputRows), to: inner(hiddenRows), toRow: WIDTH });
      for (let cell = 0; cell < hidden.length; cell += 1) hidden[cell] = Math.max(0, hidden[cell]) + input[cell];
      clearAfter(hiddenRows);
      multiply(by.second, { ...window(hiddenRows), to: outputRows, toRow: WIDTH });
      addPositive(hidden, output);
      for (let row = 0; row < count; row += 1)
        features.set(hidden.subarray(row * WIDTH, (row + 1) * WIDTH), row * FEATURES + DIMENSIONS + place);
    }
    return features;
  };

  return (text) => {
    if (!isKnown(text)) return new Float32Array(DIMENSIONS);
    const numbers = tokenize(text);
    const features = featuresOf(numbers);
    const sum = new Float64Array(FEATURES);
    for (let row = 0; row < numbers.length; row += 1) {
      const piece = features.subarray(row * FEATURES, (row + 1) * FEATURES);
      normalize(piece, gain, shift, epsilon);
      for (let at = 0; at < FEATURES; at += 1) sum[at] += piece[at];
    }
    const root = Math.sqrt(numbers.length);
    const input = product(sum, mean).map((value, at) => (value + numbers.length * meanBias[at]) / root);
    const first = positive(product(input, d0));
    const second = positive(sumOf(product(input, p1), product(first, d1)));
    const third = positive(product(second, d2));
    return sumOf(product(second, p3), product(third, d3)).map(Math.tanh);
  };
};
