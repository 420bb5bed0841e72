import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { Command } from 'commander';

import { openClient, openDownload } from '../../../cli/shared/client.js';
import { examples, npcIdArgument, outOption } from '../../../cli/shared/options.js';
import { CommandFailed, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { keptNotes, keptOfServer } from './kept-notes.js';
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
  if (checkpoint !== undefined) {
    const notes = await keptNotes(terminal, checkpoint);
    const kept = await keptOfServer(await openClient(terminal), notes);
    query.set('extends', String(kept.checkpoint.size));
  }
  const chunks = await openDownload(terminal, `/npcs/${encodeURIComponent(npcId)}/history/bundle?${query.toString()}`);
  if (out === undefined) {
    await pipeline(chunks, terminal.stdout, { end: false });
    return;
  }
  const file = resolve(terminal.cwd, out);
  // An incomplete file must not have the name of a bundle.
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
  remark(terminal, `Wrote ${out}. Check it with: npx anima verify ${out} --key <key of the server>`);
};

/** `anima bundle <npcId>`: exports a history that can be checked offline. */
export const bundleCommand = (terminal: Terminal): Command =>
  new Command('bundle')
    .description('export the history of an NPC as a bundle that anyone can check offline with "verify"')
    .addArgument(npcIdArgument())
    .option('--from <revision>', 'start at this revision', wholeFrom(0))
    .option('--to <revision>', 'end at this revision', wholeFrom(0))
    .addOption(outOption())
    .option('--checkpoint <file>', 'include a proof that the log extends this earlier checkpoint')
    .addHelpText('after', examples('bundle mira --out mira.ndjson', 'verify mira.ndjson --any-key'))
    .action((npcId: string, options: BundleOptions) => bundle(terminal, npcId, options));
