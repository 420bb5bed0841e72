import { writeFile } from 'node:fs/promises';

import { Command } from 'commander';

import { openClient } from './client.js';
import { fileOf } from './soul-file.js';
import { CommandFailed, remark, type Terminal } from './terminal.js';

const SVG = 'image/svg+xml';

/** `anima ghost picture <session>`: the level with the ghost's way through it. */
export const pictureCommand = (terminal: Terminal): Command =>
  new Command('picture')
    .description("draw the level with the ghost's way through it and where findings began, as SVG, which browsers show")
    .argument('<session>')
    .requiredOption('--out <file>', 'where to write it, such as ghost.svg')
    .action(async (sessionId: string, { out }: { readonly out: string }) => {
      if (/\.(?:png|jpe?g|gif|webp)$/i.test(out))
        throw new CommandFailed(
          `The picture is an SVG: name the file .svg, not ${out}. As PNG it is at /ghost/${sessionId}/picture?format=png.`,
        );
      const request = await openClient(terminal);
      const path = `/ghost/${encodeURIComponent(sessionId)}/picture`;
      const picture = (await request('GET', path, undefined, { accept: SVG })) as string;
      await writeFile(fileOf(terminal, out), picture).catch((error: unknown) => {
        throw new CommandFailed(
          `${out} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
        );
      });
      remark(terminal, `${out} shows the way of ${sessionId}.`);
    });
