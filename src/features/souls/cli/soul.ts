import { Command, InvalidArgumentError, Option } from 'commander';

import type { MindRequest } from '../../../body/mind-request.js';
import { isObject, jcs, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { sha256Base64url } from '../../../kernel/crypto/sha256.js';
import { cutText } from '../../../kernel/base/text.js';
import { soulToCbor } from '../domain/binary.js';
import type { LeftOut, SoulDocument, SoulMemory } from '../domain/document.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { readSoulFile, verifiedOffline, whyInvalid } from './soul-file.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { type Branch, treeLines } from '../../../cli/shared/tree.js';

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

/** How much of a text is shown on its line, in UTF-16 units. */
const LINE_CHARS = 300;

const shown = (value: Json): string => cutText(typeof value === 'string' ? value : JSON.stringify(value), LINE_CHARS);

const isEmpty = (value: Json): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

/** Recorded members of the state; those that are only defaults are not shown. */
const stateLines = (document: SoulDocument): readonly Branch[] => {
  const { extra, filled, ...state } = document.state as unknown as JsonObject & {
    readonly extra: JsonObject;
    readonly filled: readonly string[];
  };
  const lines = Object.entries({ ...state, ...extra })
    .filter(([name]) => !filled.includes(name) || Object.hasOwn(extra, name))
    .map(([name, value]) => ({ text: `${name}: ${shown(value)}` }));
  return lines.length === 0 ? [{ text: 'none' }] : lines;
};

const memoryLine = ({ text, type, importance, timestamp, confirmed, metadata }: SoulMemory): Branch => ({
  text: `${timestamp.slice(0, 10)} ${type} ${importance.toFixed(2)}${confirmed ? ' confirmed' : ''}  ${shown(text)}`,
  below: isEmpty(metadata) ? [] : [{ text: shown(metadata) }],
});

const originLines = ({ provenance, ruleset }: SoulDocument): readonly Branch[] => {
  const { issuer, tenant, npcId, revision, hash, chain } = provenance;
  return [
    { text: `exported by ${issuer}, tenant ${tenant}, NPC ${npcId}` },
    { text: `as of revision ${String(revision)}, hash ${hash}` },
    { text: ruleset === null ? 'no rules' : `rules ${ruleset.rulesetId}, version ${String(ruleset.version)}` },
    ...chain.map((link) => ({
      text: `came from ${link.issuer}, tenant ${link.tenant}, NPC ${link.npcId}, at ${link.importedAt}`,
    })),
  ];
};

/** A soul for a person to read. @param most how many memories are shown, the newest of them */
const soulTree = (document: SoulDocument, verdict: string, most: number): Branch => {
  const { id, name, persona, createdAt, memories, without } = document;
  const left = memories.length - most;
  return {
    text: `${name}, soul ${id} of ${createdAt}: ${verdict}`,
    below: [
      { text: 'persona', below: [{ text: persona === '' ? 'none' : shown(persona) }] },
      { text: 'state', below: stateLines(document) },
      {
        text: `memories: ${String(memories.length)}`,
        below: [
          ...(left > 0 ? [{ text: `${String(left)} older ones; --memories <n> shows more` }] : []),
          ...memories.slice(Math.max(0, left)).map(memoryLine),
        ],
      },
      ...(without === undefined ? [] : [{ text: `left out: ${without.join(', ')}` }]),
      { text: 'provenance', below: originLines(document) },
    ],
  };
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
      await writeTyped(terminal, out, cbor ? soulToCbor(soul) : JSON.stringify(soul));
      const txId = sha256Base64url(jcs(soul));
      remark(terminal, `The soul ${soul.id} of ${npcId} is in ${out}, and in the archive of the server as ${txId}.`);
    });

/** How often the server is asked whether a large soul has arrived; it takes its time over each answer. */
const ASKED_AT_MOST = 8;

type ImportOptions = { readonly copy?: boolean; readonly json?: boolean };
type CameIn = { readonly npcId: string; readonly copy: boolean; readonly signer: string; readonly kid: string };
type HereAlready = { readonly npcId: string; readonly origin: { readonly txId: string; readonly importedAt: string } };

const confirmed = async (request: MindRequest, body: object): Promise<CameIn> => {
  for (let asked = 1; ; asked += 1) {
    try {
      return (await request('POST', '/npcs/import/confirm', body)) as CameIn;
    } catch (error) {
      const goesOn = error instanceof CommandFailed && error.code === 'ENGINE_UNAVAILABLE';
      if (!goesOn || asked === ASKED_AT_MOST) throw error;
    }
  }
};

/** What an earlier import of the same file has brought in; its answer may have been lost. @throws what was thrown for anything else */
const hereAlready = (error: unknown, txId: string): HereAlready => {
  const failed = error instanceof CommandFailed ? error : null;
  const { npcId, origin } = (failed?.details ?? {}) as Partial<HereAlready>;
  if (npcId !== undefined && origin?.txId === txId) return { npcId, origin };
  if (failed?.code !== 'SOUL_ALREADY_LIVE') throw error;
  throw new CommandFailed(`${failed.message}\nGive --copy to bring it in under another npcId.`, failed.code);
};

/** `anima soul import <file>`: the soul in a file becomes an NPC of a server. */
const importCommand = (terminal: Terminal): Command =>
  new Command('import')
    .description('import the soul in a file into a server')
    .argument('<file>', 'JSON or CBOR')
    .option('--copy', 'beside whoever has its npcId, or lives there as this soul, under another npcId')
    .option('--json', 'print the answer as a line of JSON')
    .action(async (file: string, { copy = false, json = false }: ImportOptions) => {
      const document = await readSoulFile(terminal, file);
      const outcome = await verifiedOffline(document);
      if (!outcome.valid) throw whyInvalid(file, outcome.reason);
      const request = await openClient(terminal);
      // What an archive of Anima calls it, whether it is there or not.
      const txId = sha256Base64url(jcs(document as Json));
      await request('POST', '/npcs/import', { txIdRef: txId });
      const came = await confirmed(request, {
        sicTxId: txId,
        sicDownloadResult: { adrBody: document, adrStatus: 200, adrSuccess: true },
        copy,
      }).catch((error: unknown) => hereAlready(error, txId));
      if (json) printJson(terminal, came);
      else if ('origin' in came)
        print(terminal, `${file} is here already as ${came.npcId}: it came in at ${came.origin.importedAt}.`);
      else print(terminal, `${file} came in as ${came.npcId}${came.copy ? ', a copy' : ''}; signed by ${whose(came)}.`);
    });

const whose = ({ signer, kid }: CameIn): string =>
  signer === 'ours' ? 'this server' : `${signer === 'known' ? 'a key that it trusts' : 'an unknown key'}, ${kid}`;

/** `anima soul`: souls in files. */
export const soulCommand = (terminal: Terminal): Command =>
  new Command('soul')
    .description('export an NPC as a soul, import one, and verify or read souls in files')
    .addCommand(exportCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(inspectCommand(terminal));
