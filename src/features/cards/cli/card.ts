import { Command, Option } from 'commander';

import { beginsAsCharx, beginsAsJpeg, cardInCharx } from '../charx.js';
import type { ImportedCard } from '../import-card.js';
import { cardPicture, cardTextIn } from '../card-picture.js';
import { beginsAsPng } from '../../../kernel/crypto/png.js';
import { readRecordedCard } from '../domain/read-card.js';
import type { Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { DEFAULT_BODY_LIMIT } from '../../../kernel/http/guard/read-body.js';
import { readJsonBytes } from '../../../kernel/base/read-json.js';
import { openClient, openDownload } from '../../../cli/shared/client.js';
import { aSoul, looksLikeSoul } from '../../../cli/shared/file-kinds.js';
import { readTyped, writeTyped } from '../../../cli/shared/files.js';
import { examples, jsonOption, npcIdArgument, outOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';

/** The largest file that is read: the limit of the server for a picture. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

const readBytes = async (terminal: Terminal, file: string): Promise<Buffer> => {
  const bytes = await readTyped(terminal, file);
  if (bytes.length > MAX_FILE_BYTES) throw new CommandFailed(`${file} is larger than 16 MiB, the limit for a card.`);
  return bytes;
};

/** Refusals of a request body, reworded for a file. */
const OF_FILE: Readonly<Record<string, string>> = {
  MALFORMED_JSON: 'This is neither a card in JSON nor a PNG or CHARX with a card.',
  PNG_INVALID: 'This is not a complete PNG with a readable card.',
  CHARX_INVALID: 'This is not a complete CHARX (a zip) with a readable card.',
};

/** Turns a refusal into a failure that names the file. */
const inFile = async <Result>(file: string, read: () => Result | Promise<Result>): Promise<Result> => {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const { reason } = error.details;
    const sentence = OF_FILE[error.code] ?? error.message;
    throw new CommandFailed(`${file}: ${sentence}${typeof reason === 'string' ? ` ${reason}` : ''}`);
  }
};

/** The JSON of a card in a file of any kind. @throws Rejection */
const jsonBytesIn = async (bytes: Buffer): Promise<Buffer> => {
  if (beginsAsPng(bytes)) return cardTextIn(bytes, DEFAULT_BODY_LIMIT);
  return beginsAsCharx(bytes) ? cardInCharx(bytes, DEFAULT_BODY_LIMIT) : bytes;
};

const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}/card`;

/** The media type under which a file is sent; undefined for JSON that only its white space makes too long, of which the card is sent. */
const typeOf = (bytes: Buffer): string | undefined => {
  if (beginsAsPng(bytes)) return 'image/png';
  if (beginsAsCharx(bytes)) return beginsAsJpeg(bytes) ? 'image/jpeg' : 'application/zip';
  return bytes.length > DEFAULT_BODY_LIMIT ? undefined : 'application/json';
};

/** How long an import may take, in milliseconds: files may be large, and connections slow. */
const IMPORT_MS = 120_000;

/** `anima card import <npcId> <file>`. Sends the whole file, which the server keeps. */
const importCommand = (terminal: Terminal): Command =>
  new Command('import')
    .description('create or update an NPC from a character card')
    .addArgument(npcIdArgument())
    .argument(
      '<file>',
      'V1, V2 or V3 card, or a character of Agnai or Pygmalion: in JSON, or embedded in a PNG or a CHARX (also behind a JPEG)',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('card import mira mira.png'))
    .action(async (npcId: string, file: string, { json = false }: { readonly json?: boolean }) => {
      const bytes = await readBytes(terminal, file);
      const card = await inFile(file, async () => readJsonBytes(await jsonBytesIn(bytes)).value);
      if (looksLikeSoul(card)) throw new CommandFailed(aSoul(file));
      const request = await openClient(terminal, IMPORT_MS);
      const contentType = typeOf(bytes);
      const sent =
        contentType === undefined
          ? request('POST', pathOf(npcId), card)
          : request('POST', pathOf(npcId), bytes, { contentType });
      const answer = (await sent) as ImportedCard;
      if (json) {
        printJson(terminal, answer);
        return;
      }
      const { name, cardVersion, lore, warnings } = answer;
      const reasons = [
        ...(lore.disabled > 0 ? [`disabled: ${String(lore.disabled)}`] : []),
        ...(lore.left > lore.disabled ? [`without a text: ${String(lore.left - lore.disabled)}`] : []),
      ];
      const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
      print(
        terminal,
        `${npcId} is now ${name}, from a V${String(cardVersion)} card. Lore entries: ${String(lore.entries)}, skipped: ${String(lore.left)}${why}. Memories stored: ${String(lore.stored)}, already known: ${String(lore.known)}.`,
      );
      for (const { pointer, message } of warnings) remark(terminal, `warning: ${pointer} ${message}`);
    });

type CardExportOptions = {
  readonly out?: string;
  readonly version?: '2' | '3';
  readonly original?: boolean;
  readonly file?: boolean;
  readonly png?: boolean;
  readonly picture?: string;
};

/** `anima card export <npcId>`: writes a card to a file or to standard output. */
const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('export an NPC as a character card, as JSON or PNG')
    .addArgument(npcIdArgument())
    .addOption(outOption())
    .addOption(
      new Option('--version <n>', 'version of the card (default: the version that was imported, otherwise 3)').choices([
        '2',
        '3',
      ]),
    )
    .addOption(
      new Option('--original', 'the imported card as it came, in the format and version that it came in').conflicts(
        'version',
      ),
    )
    .addOption(
      new Option('--file', 'the imported file itself, byte for byte (needs --out)').conflicts([
        'version',
        'original',
        'png',
        'picture',
      ]),
    )
    .addOption(new Option('--png', 'embed the card in a PNG of one grey pixel (needs --out)').conflicts('picture'))
    .option('--picture <file>', 'embed the card in a copy of this PNG (needs --out)')
    .addHelpText(
      'after',
      examples(
        'card export mira --out mira.json',
        'card export mira --picture portrait.png --out mira.png',
        'card export mira --file --out mira.png',
      ),
    )
    .action(async (npcId: string, options: CardExportOptions) => {
      const { out, version, original = false, file = false, png = false, picture } = options;
      if (file) {
        if (out === undefined) throw new WrongUsage('A file needs --out <file>.');
        const pieces: Uint8Array[] = [];
        for await (const piece of await openDownload(terminal, `${pathOf(npcId)}?format=file`)) pieces.push(piece);
        await writeTyped(terminal, out, Buffer.concat(pieces));
        remark(terminal, `Wrote the imported file of ${npcId} to ${out}.`);
        return;
      }
      const isPicture = png || picture !== undefined;
      if (isPicture && out === undefined) throw new WrongUsage('A picture needs --out <file>.');
      const base = picture === undefined ? undefined : await readBytes(terminal, picture);
      const request = await openClient(terminal);
      const card = (await request(
        'GET',
        `${pathOf(npcId)}${original ? '?format=original' : version === undefined ? '' : `?version=${version}`}`,
      )) as Json;
      if (out === undefined) {
        printJson(terminal, card);
        return;
      }
      const content = isPicture
        ? await inFile(picture ?? out, () => cardPicture(readRecordedCard(card), base))
        : JSON.stringify(card, null, 2);
      await writeTyped(terminal, out, content);
      remark(terminal, `Wrote the card of ${npcId} to ${out}.`);
    });

export const cardCommand = (terminal: Terminal): Command =>
  new Command('card')
    .description('import and export NPCs as character cards')
    .addCommand(importCommand(terminal))
    .addCommand(exportCommand(terminal));
