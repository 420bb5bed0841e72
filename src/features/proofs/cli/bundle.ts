import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { Command } from 'commander';

import { openDownload } from '../../../cli/shared/client.js';
import { CommandFailed, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { keptCheckpoint } from './verify.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

type BundleOptions = {
  readonly from?: number;
  readonly to?: number;
  readonly out?: string;
  readonly checkpoint?: string;
};

const bundle = async (
  terminal: Terminal,
  npcId: string,
  { from, to, out, checkpoint }: BundleOptions,
): Promise<void> => {
  const query = new URLSearchParams();
  if (from !== undefined) query.set('from', String(from));
  if (to !== undefined) query.set('to', String(to));
  if (checkpoint !== undefined) query.set('extends', String((await keptCheckpoint(terminal, checkpoint)).size));
  const chunks = await openDownload(terminal, `/npcs/${encodeURIComponent(npcId)}/history/bundle?${query.toString()}`);
  if (out === undefined) {
    await pipeline(chunks, terminal.stdout, { end: false });
    return;
  }
  const file = resolve(terminal.cwd, out);
  // Half a bundle must not look like one.
  const part = `${file}.part`;
  try {
    await pipeline(chunks, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error instanceof CommandFailed
      ? error
      : new CommandFailed(`The bundle could not be written: ${String(error)}`);
  }
  remark(terminal, `Wrote ${out}. Check it with: anima verify ${out}`);
};

/** `anima bundle <npcId>`: a history that anybody can check offline. */
export const bundleCommand = (terminal: Terminal): Command =>
  new Command('bundle')
    .description('take out a history that anybody can check offline with "anima verify"')
    .argument('<npcId>')
    .option('--from <revision>', 'the first revision', wholeFrom(0))
    .option('--to <revision>', 'the last revision', wholeFrom(0))
    .option('--out <file>', 'where to write it; the standard output by default')
    .option('--checkpoint <file>', 'a checkpoint that was kept: the bundle then shows that the log extends it')
    .action((npcId: string, options: BundleOptions) => bundle(terminal, npcId, options));
