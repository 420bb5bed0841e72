import { statfs } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, totalmem, type as systemName } from 'node:os';
import { join } from 'node:path';

import { Database } from '../src/adapters/embedded/database.js';
import { temporaryDirectory } from './cleanup.js';
import { whole } from './report.js';

const GIB = 1024 ** 3;
/** How long commits are counted, in milliseconds. */
const COMMITS_MS = 1_000;
/** The number that statfs(2) gives for Linux's file system in memory. */
const TMPFS = 0x01021994;

/** How many commits of one row the disk of the temporary directory flushes per second, one after the other. */
const commitsPerSecond = (path: string): number => {
  using database = Database.open(join(path, 'commits.db'), { synchronous: 'FULL' });
  database.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  const add = database.prepare('INSERT INTO rows (text) VALUES (?)');
  const began = performance.now();
  let commits = 0;
  while (performance.now() - began < COMMITS_MS) {
    database.transaction(() => add.run('one row'));
    commits += 1;
  }
  return (commits * 1_000) / (performance.now() - began);
};

/** The machine of the measurements, one line for each property. */
export const describeMachine = async (): Promise<readonly string[]> => {
  await using directory = await temporaryDirectory();
  const [load = 0] = loadavg();
  const { type } = await statfs(directory.path);
  const disk =
    type === TMPFS ? 'a file system in memory, which flushes nothing: TMPDIR must name a disk' : 'one after the other';
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}, load average beforehand ${load.toFixed(1)}.`,
    `Processor: ${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores; memory ${(totalmem() / GIB).toFixed(0)} GiB.`,
    `Disk: ${whole(commitsPerSecond(directory.path))} flushed commits a second, ${disk}.`,
    `Node ${process.version}, ${systemName()} ${release()}.`,
  ];
};
