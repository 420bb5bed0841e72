import { Command, Option } from 'commander';

import type { ImportedCard } from '../import-card.js';
import { cardPicture, cardTextIn } from '../domain/picture.js';
import { beginsAsPng } from '../../../kernel/crypto/png.js';
import { readCard } from '../domain/read-card.js';
import type { Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { DEFAULT_BODY_LIMIT } from '../../../kernel/http/guard/read-body.js';
import { readJsonBytes } from '../../../kernel/base/read-json.js';
import { openClient } from '../../../cli/shared/client.js';
import { readTyped, writeTyped } from '../../../cli/shared/files.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

/** The largest file that is read: the limit of the server for a picture. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

const readBytes = async (terminal: Terminal, file: string): Promise<Buffer> => {
  const bytes = await readTyped(terminal, file);
  if (bytes.length > MAX_FILE_BYTES) throw new CommandFailed(`${file} is larger than a card may be.`);
  return bytes;
};

/** What refusals of a request's body mean of a file. */
const OF_FILE: Readonly<Record<string, string>> = {
  MALFORMED_JSON: 'This is no card as JSON, nor a PNG with one.',
  PNG_INVALID:
    'This is not a whole PNG with a readable card. CHARX files are not read: export the card as PNG or JSON.',
};

/** What a refusal of the domain says, about a file. */
const inFile = <Result>(file: string, read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const { reason } = error.details;
    const sentence = OF_FILE[error.code] ?? error.message;
    throw new CommandFailed(`${file}: ${sentence}${typeof reason === 'string' ? ` ${reason}` : ''}`);
  }
};

const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}/card`;

/** `anima card import <npcId> <file>`. The picture stays here: the server needs only the card in it. */
const importCommand = (terminal: Terminal): Command =>
  new Command('import')
    .description('make an NPC what a character card says')
    .argument('<npcId>')
    .argument('<file>', 'a card V1, V2 or V3: JSON, or a PNG with the card in it')
    .option('--json', "print the server's answer as a line of JSON")
    .action(async (npcId: string, file: string, { json = false }: { readonly json?: boolean }) => {
      const bytes = await readBytes(terminal, file);
      const card = inFile(
        file,
        () => readJsonBytes(beginsAsPng(bytes) ? cardTextIn(bytes, DEFAULT_BODY_LIMIT) : bytes).value,
      );
      const request = await openClient(terminal);
      const answer = (await request('POST', pathOf(npcId), card)) as ImportedCard;
      if (json) {
        printJson(terminal, answer);
        return;
      }
      const { name, cardVersion, lore } = answer;
      print(
        terminal,
        `${npcId} is ${name} now, by a card V${String(cardVersion)}. Lore entries: ${String(lore.entries)}, left out: ${String(lore.left)}. Memories stored: ${String(lore.stored)}, known before: ${String(lore.known)}.`,
      );
    });

type CardExportOptions = {
  readonly out?: string;
  readonly version?: '2' | '3';
  readonly png?: boolean;
  readonly picture?: string;
};

/** `anima card export <npcId>`: a card into a file, or to the output. */
const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('export an NPC as a character card, as JSON or PNG')
    .argument('<npcId>')
    .option('--out <file>', 'where to write it; without it, JSON goes to the output')
    .addOption(new Option('--version <version>', 'the version of the card').choices(['2', '3']))
    .option('--png', 'in a picture of one grey pixel')
    .option('--picture <file>', 'in this picture, a PNG')
    .action(async (npcId: string, { out, version, png = false, picture }: CardExportOptions) => {
      const isPicture = png || picture !== undefined;
      if (isPicture && out === undefined) throw new CommandFailed('Say where to write the picture: --out <file>.');
      const base = picture === undefined ? undefined : await readBytes(terminal, picture);
      const request = await openClient(terminal);
      const card = (await request(
        'GET',
        `${pathOf(npcId)}${version === undefined ? '' : `?version=${version}`}`,
      )) as Json;
      if (out === undefined) {
        printJson(terminal, card);
        return;
      }
      const content = isPicture
        ? inFile(picture ?? out, () => cardPicture(readCard(card), base))
        : JSON.stringify(card, null, 2);
      await writeTyped(terminal, out, content);
      remark(terminal, `The card of ${npcId} is in ${out}.`);
    });

/** `anima card`: character cards in files. */
export const cardCommand = (terminal: Terminal): Command =>
  new Command('card')
    .description('import and export NPCs as character cards')
    .addCommand(importCommand(terminal))
    .addCommand(exportCommand(terminal));
