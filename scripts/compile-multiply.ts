// Compiles the products of matrices of the built-in embedder: `npm run build && node dist/scripts/compile-multiply.js` after a change of multiply.wat.
// With --check it only tells whether multiply.wasm is what multiply.wat says.
import { readFileSync, writeFileSync } from 'node:fs';

import openWabt from 'wabt';

const FOLDER = 'src/adapters/embedders/multilingual/';

const wabt = await openWabt();
const source = readFileSync(`${FOLDER}multiply.wat`, 'utf8');
const { buffer } = wabt.parseWat('multiply.wat', source, { simd: true }).toBinary({});
if (process.argv.includes('--check')) {
  if (!readFileSync(`${FOLDER}multiply.wasm`).equals(buffer)) {
    console.error('multiply.wasm is not what multiply.wat says. Run "node dist/scripts/compile-multiply.js".');
    process.exitCode = 1;
  }
} else writeFileSync(`${FOLDER}multiply.wasm`, buffer);
