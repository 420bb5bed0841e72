import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import type { MindRequest } from '../../../body/mind-request.js';
import { isObject, jcs, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { sha256Base64url } from '../../../kernel/crypto/sha256.js';
import { cutText } from '../../../kernel/base/text.js';
import { soulToCbor } from '../domain/binary.js';
import type { LeftOut, SoulDocument, SoulMemory } from '../domain/document.js';
import { openClient } from '../../../cli/shared/client.js';
import { aCard, looksLikeCard } from '../../../cli/shared/file-kinds.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { readSoulFile, verifiedOffline, whyInvalid } from './soul-file.js';
import { examples, jsonOption, npcIdArgument, outOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { type Branch, treeLines } from '../../../cli/shared/tree.js';

const MEMORIES_SHOWN = 20;

const fileArgument = (): Argument => new Argument('<file>', 'soul in JSON or CBOR');

/** `anima soul verify <file>`: whether a soul is intact, and which key signed it. */
const verifyCommand = (terminal: Terminal): Command =>
  new Command('verify')
    .description('check whether a soul file is intact and show which key signed it; needs no server')
    .addArgument(fileArgument())
    .addOption(jsonOption())
    .action(async (file: string, { json = false }: { readonly json?: boolean }) => {
      const outcome = await verifiedOffline(await readSoulFile(terminal, file));
      if (outcome.valid) {
        const { soul, kid } = outcome;
        const { issuer } = soul.provenance;
        if (json) printJson(terminal, { valid: true, soulId: soul.id, npcId: soul.npcId, issuer, kid });
        else
          print(
            terminal,
            `${file} is intact: soul ${soul.id} of ${soul.npcId}, signed by key ${kid}. It names ${issuer} as its issuer.`,
          );
        return;
      }
      if (json) printJson(terminal, outcome);
      throw whyInvalid(file, outcome.reason);
    });

const count = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999999.');
  return Number(text);
};

/** Texts are cut to this many UTF-16 units. */
const LINE_CHARS = 300;

const shown = (value: Json): string => cutText(typeof value === 'string' ? value : JSON.stringify(value), LINE_CHARS);

const isEmpty = (value: Json): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

/** The recorded members of the state, without those that are only defaults. */
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
      text: `imported from ${link.issuer}, tenant ${link.tenant}, NPC ${link.npcId}, at ${link.importedAt}`,
    })),
  ];
};

/** A soul as text. @param most how many memories are shown, the newest ones */
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
          ...(left > 0
            ? [{ text: `${counted(left, 'older memory', 'older memories')} not shown (raise --memories to see more)` }]
            : []),
          ...memories.slice(Math.max(0, left)).map(memoryLine),
        ],
      },
      ...(without === undefined ? [] : [{ text: `left out: ${without.join(', ')}` }]),
      { text: 'provenance', below: originLines(document) },
    ],
  };
};

/** `anima soul inspect <file>`: the content of a soul as text. */
const inspectCommand = (terminal: Terminal): Command =>
  new Command('inspect')
    .description('print the persona, state, memories and provenance of a soul file; needs no server')
    .addArgument(fileArgument())
    .option('--memories <n>', 'print at most this many of the newest memories', count, MEMORIES_SHOWN)
    .addOption(jsonOption())
    .action(
      async (file: string, { memories, json = false }: { readonly memories: number; readonly json?: boolean }) => {
        const outcome = await verifiedOffline(await readSoulFile(terminal, file));
        if (!outcome.valid) {
          throw whyInvalid(file, outcome.reason);
        }
        const { soul, kid } = outcome;
        if (json) printJson(terminal, soul);
        else
          for (const line of treeLines(soulTree(soul, `intact, signed by key ${kid}`, memories))) print(terminal, line);
      },
    );

type ExportOptions = {
  readonly out?: string;
  readonly cbor?: boolean;
  readonly memories: boolean;
  readonly without?: LeftOut;
};

/** `anima soul export <npcId>`: writes a soul to a file or to standard output. */
const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('export the soul of an NPC, as JSON or CBOR')
    .addArgument(npcIdArgument())
    .addOption(outOption())
    .option('--cbor', 'write the binary form (needs --out)')
    .option('--no-memories', 'leave out the memories')
    .addOption(new Option('--without <what>', 'leave out memories and data about players').choices(['players']))
    .addHelpText('after', examples('soul export mira --out mira.json', 'soul export mira --cbor --out mira.cbor'))
    .action(async (npcId: string, { out, cbor = false, memories, without }: ExportOptions) => {
      if (cbor && out === undefined) throw new WrongUsage('--cbor needs --out <file>.');
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
      remark(terminal, `Wrote the soul ${soul.id} of ${npcId} to ${out}. The archive of the server has it as ${txId}.`);
    });

/** How many requests wait for the import of a large soul; the server waits before it answers each one. */
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

const ADVICE = 'Pass --copy to import it under a new NPC ID.';

/** The result of an earlier import of the same file, whose response may have been lost. @throws the given error for anything else */
const hereAlready = (error: unknown, txId: string): HereAlready => {
  const failed = error instanceof CommandFailed ? error : null;
  const { npcId, origin } = (failed?.details ?? {}) as Partial<HereAlready>;
  if (npcId !== undefined && origin?.txId === txId) return { npcId, origin };
  if (failed?.code !== 'SOUL_ALREADY_LIVE') throw error;
  // What the server advises is a member of the request.
  const message = `The soul, or another NPC with its ID, is on this server already. ${ADVICE} (${failed.code})`;
  throw new CommandFailed(message, failed.code);
};

/** `anima soul import <file>`: creates an NPC from a soul. */
const importCommand = (terminal: Terminal): Command =>
  new Command('import')
    .description('create an NPC from a soul file')
    .addArgument(fileArgument())
    .option(
      '--copy',
      'import it as a copy under a new NPC ID, even if its own NPC ID is taken or the soul was imported before',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('soul import mira.json', 'soul import mira.json --copy'))
    .action(async (file: string, { copy = false, json = false }: ImportOptions) => {
      const document = await readSoulFile(terminal, file);
      if (looksLikeCard(document)) throw new CommandFailed(aCard(file));
      const outcome = await verifiedOffline(document);
      if (!outcome.valid) throw whyInvalid(file, outcome.reason);
      const request = await openClient(terminal);
      // The name of this soul in an archive, even if the archive does not have it.
      const txId = sha256Base64url(jcs(document as Json));
      await request('POST', '/npcs/import', { txIdRef: txId });
      const came = await confirmed(request, {
        sicTxId: txId,
        sicDownloadResult: { adrBody: document, adrStatus: 200, adrSuccess: true },
        copy,
      }).catch((error: unknown) => hereAlready(error, txId));
      if (json) printJson(terminal, came);
      else if ('origin' in came)
        print(terminal, `${file} was already imported as ${came.npcId} at ${came.origin.importedAt}.`);
      else
        print(terminal, `Imported ${file} as ${came.npcId}${came.copy ? ' (a copy)' : ''}, signed by ${whose(came)}.`);
      const { ruleset } = outcome.soul;
      if (ruleset?.bound === true && (await isUnregistered(request, ruleset.rulesetId)))
        remark(
          terminal,
          `warning: ${came.npcId} is bound to the ruleset ${ruleset.rulesetId}, which is not registered here. Until it is, the tenant's ruleset "default" decides, or without one the built-in preset "default".`,
        );
    });

/** False if the key may not read rules: the soul is here all the same. */
const isUnregistered = (request: MindRequest, rulesetId: string): Promise<boolean> =>
  request('GET', `/rules/${encodeURIComponent(rulesetId)}`).then(
    () => false,
    (error: unknown) => error instanceof CommandFailed && error.code === 'RULESET_NOT_FOUND',
  );

const whose = ({ signer, kid }: CameIn): string =>
  signer === 'ours' ? 'this server' : `${signer === 'known' ? 'a trusted key' : 'an unknown key'}, ${kid}`;

export const soulCommand = (terminal: Terminal): Command =>
  new Command('soul')
    .description('export and import NPCs as souls; verify and inspect soul files')
    .addCommand(exportCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(inspectCommand(terminal));
