import { writeFile } from 'node:fs/promises';

import { Command, InvalidArgumentError, Option } from 'commander';

import { jcs } from '../domain/shared/json.js';
import { sha256Base64url } from '../domain/shared/sha256.js';
import { soulToCbor } from '../domain/soul/binary.js';
import type { LeftOut } from '../domain/shared/soul-origin.js';
import type { SoulDocument } from '../domain/soul/document.js';
import { openClient } from './client.js';
import { fileOf, readSoulFile, verifiedOffline, whyInvalid } from './soul-file.js';
import { importCommand } from './soul-import.js';
import { soulTree } from './soul-tree.js';
import { CommandFailed, print, printJson, remark, type Terminal } from './terminal.js';
import { treeLines } from './tree.js';

/** How many memories `inspect` shows. */
const MEMORIES_SHOWN = 20;

/** `anima soul verify <file>`: whether a soul is whole, and by which key it was signed. */
const verifyCommand = (terminal: Terminal): Command =>
  new Command('verify')
    .description('say whether a soul in a file is whole, and by which key it was signed; needs no server')
    .argument('<file>', 'JSON or CBOR')
    .option('--json', 'print the outcome as a line of JSON')
    .action(async (file: string, { json = false }: { readonly json?: boolean }) => {
      const outcome = await verifiedOffline(await readSoulFile(terminal, file));
      if (outcome.valid) {
        const { soul, kid } = outcome;
        const { issuer } = soul.provenance;
        if (json) printJson(terminal, { valid: true, soulId: soul.id, npcId: soul.npcId, issuer, kid });
        else
          print(
            terminal,
            `${file} is whole: soul ${soul.id} of ${soul.npcId}, signed by key ${kid}, which says it is ${issuer}.`,
          );
        return;
      }
      if (json) printJson(terminal, outcome);
      throw whyInvalid(file, outcome.reason);
    });

const count = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a number from 0 to 999999.');
  return Number(text);
};

/** `anima soul inspect <file>`: what is in a soul, for a person to read. */
const inspectCommand = (terminal: Terminal): Command =>
  new Command('inspect')
    .description('show what a soul in a file holds: persona, state, memories, provenance; needs no server')
    .argument('<file>', 'JSON or CBOR')
    .option('--memories <n>', 'how many memories are shown, the newest of them', count, MEMORIES_SHOWN)
    .option('--json', 'print the document as a line of JSON')
    .action(
      async (file: string, { memories, json = false }: { readonly memories: number; readonly json?: boolean }) => {
        const outcome = await verifiedOffline(await readSoulFile(terminal, file));
        if (!outcome.valid) {
          throw whyInvalid(file, outcome.reason);
        }
        const { soul, kid } = outcome;
        if (json) printJson(terminal, soul);
        else
          for (const line of treeLines(soulTree(soul, `whole, signed by key ${kid}`, memories))) print(terminal, line);
      },
    );

type ExportOptions = {
  readonly out?: string;
  readonly cbor?: boolean;
  readonly memories: boolean;
  readonly without?: LeftOut;
};

/** `anima soul export <npcId>`: a soul into a file, or to the output. */
const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('export the soul of an NPC from a server, as JSON or CBOR')
    .argument('<npcId>')
    .option('--out <file>', 'where to write it; without it, JSON goes to the output')
    .option('--cbor', 'the binary form')
    .option('--no-memories', 'leave the memories out')
    .addOption(new Option('--without <what>', 'leave out what is said of players').choices(['players']))
    .action(async (npcId: string, { out, cbor = false, memories, without }: ExportOptions) => {
      if (cbor && out === undefined) throw new CommandFailed('Say where to write the binary form: --out <file>.');
      const request = await openClient(terminal);
      const path = `/v1/agents/${encodeURIComponent(npcId)}/soul/export`;
      const asked = { includeMemories: memories, without: without === undefined ? [] : [without] };
      const { soul } = (await request('POST', path, asked)) as { readonly soul: SoulDocument };
      if (out === undefined) {
        printJson(terminal, soul);
        return;
      }
      const file = fileOf(terminal, out);
      await writeFile(file, cbor ? soulToCbor(soul) : JSON.stringify(soul)).catch((error: unknown) => {
        throw new CommandFailed(
          `${out} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
        );
      });
      const txId = sha256Base64url(jcs(soul));
      remark(terminal, `The soul ${soul.id} of ${npcId} is in ${out}, and in the archive of the server as ${txId}.`);
    });

/** `anima soul`: souls in files. */
export const soulCommand = (terminal: Terminal): Command =>
  new Command('soul')
    .description('export an NPC as a soul, import one, and verify or read souls in files')
    .addCommand(exportCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(inspectCommand(terminal));
