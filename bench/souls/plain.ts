import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';

import { peakDuring } from './peak-memory.js';

/**
 * The least that a soul could cost: `JSON.stringify`, a hash, a flushed write. Usage: node plain.js <file with the document> <file to write>; it
 * prints a line of JSON with `ms` and `mib`.
 */
const [from = '', to = ''] = process.argv.slice(2);
const document: unknown = JSON.parse(await readFile(from, 'utf8'));
const { result: ms, mib } = await peakDuring(process.pid, async () => {
  const began = performance.now();
  const text = JSON.stringify(document);
  createHash('sha256').update(text).digest('base64url');
  const file = await open(to, 'w');
  await file.writeFile(text);
  await file.sync();
  await file.close();
  return performance.now() - began;
});
console.log(JSON.stringify({ ms, mib }));
