import { Command } from 'commander';

import { jcs, type Json } from '../domain/shared/json.js';
import { sha256Base64url } from '../domain/shared/sha256.js';
import type { MindRequest } from '../body/mind-request.js';
import { openClient } from './client.js';
import { readSoulFile, verifiedOffline, whyInvalid } from './soul-file.js';
import { CommandFailed, print, printJson, type Terminal } from './terminal.js';

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
export const importCommand = (terminal: Terminal): Command =>
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
