import { Type } from '@sinclair/typebox';

import { withVerified } from '../chain-links.js';
import { custodyOf } from '../custody-chain.js';
import { downloadAddress } from '../download-address.js';
import { beginImport, giveUpImport, type ImportDeps, receiveSoul } from '../import-soul.js';
import { keptPayload } from '../kept-payload.js';
import type { OtherArchives } from '../other-archives.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import { cutText } from '../../../kernel/base/text.js';
import { broughtBy } from '../domain/soul-state.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { readJsonText } from '../../../kernel/http/json-text.js';
import { TX_ID } from '../../../kernel/http/patterns.js';
import { named } from '../../../kernel/http/named.js';
import { NpcParams, nullable } from '../../../kernel/http/schemas.js';
import { importExamples as examples } from './import-examples.js';
import { SOUL_BODY_BYTES } from './exports.js';
import { CustodySchema, ImportedSoul, ImportSoulResponse } from './schemas.js';

/** Of what a client says about a failed download, in UTF-16 units. */
const ERROR_CHARS = 500;

const TxId = Type.String({
  ...{ minLength: 1, maxLength: 128, pattern: TX_ID },
  description: 'The id of the soul in its archive.',
});

const ImportSoulRequest = named('ImportSoulRequest', Type.Object({ txIdRef: TxId }));
const DownloadResult = named(
  'DownloadResult',
  Type.Object({
    adrBody: Type.Optional(Type.Unsafe<Json>({ description: 'The downloaded document, or its JSON text.' })),
    adrStatus: nullable(Type.Integer({ description: 'The HTTP status of the download.' })),
    adrSuccess: Type.Boolean(),
    adrError: nullable(Type.String({ description: 'Why the download failed.' })),
  }),
);
const ConfirmImportRequest = named(
  'ConfirmImportRequest',
  Type.Object({
    sicTxId: TxId,
    sicDownloadResult: DownloadResult,
    copy: nullable(Type.Boolean({ description: 'Import it under another npcId, as a copy.' })),
  }),
);

export type ImportServices = ImportDeps & { readonly publicUrl: string; readonly archives: OtherArchives };

/** The document that a client sends: an object, or its JSON text. */
const documentOf = async (body: Json | undefined): Promise<unknown> => {
  if (isObject(body)) return body;
  if (typeof body !== 'string') return null;
  try {
    return await readJsonText('/sicDownloadResult/adrBody', body);
  } catch (error) {
    if (error instanceof Rejection && error.code === 'MALFORMED_JSON') return null;
    throw error;
  }
};

const asked = (call: Call, txId: string) => ({ tenant: call.principal.tenant, txId, by: contextOf(call) });

/** The two phases of an import, and where a mind came from. */
export const importRoutes = (services: ImportServices): readonly RouteDefinition[] => [
  route('POST', '/npcs/import', {
    operationId: 'importSoul',
    tag: 'Souls',
    summary: 'Start to import a soul',
    description:
      'The first of two phases. GET `{adiGatewayUrl}/{adiExpectedTxId}`, then confirm with `POST /npcs/import/confirm`.',
    scope: 'souls',
    body: ImportSoulRequest,
    example: examples.import,
    sends: ['Anima-Revision'],
    responses: ok('Where to download the soul. A key is not needed.', ImportSoulResponse, examples.begun),
    handler: async (call) => {
      const { txIdRef } = call.body;
      await beginImport(services, asked(call, txIdRef));
      const isKept = (await keptPayload(services.archive, txIdRef)) !== null;
      const { archives, publicUrl } = services;
      const adiGatewayUrl = downloadAddress(txIdRef, isKept, { ...archives, publicUrl });
      return { body: { si1Instruction: { adiGatewayUrl, adiExpectedTxId: txIdRef } } };
    },
  }),
  route('POST', '/npcs/import/confirm', {
    operationId: 'confirmImport',
    tag: 'Souls',
    summary: 'Confirm the download of a soul',
    description:
      'The second of two phases: the soul becomes an NPC. Repeating the request with the same document returns the first response.',
    scope: 'souls',
    bodyLimit: SOUL_BODY_BYTES,
    body: ConfirmImportRequest,
    example: examples.confirm,
    refuses: [
      ...['SOUL_IMPORT_NOT_FOUND', 'SOUL_ALREADY_LIVE', 'SOUL_EXCHANGE_EXPIRED', 'DATA_TOO_LARGE', 'FACTS_TOO_LARGE'],
      ...['SOUL_DOWNLOAD_FAILED', 'SOUL_INVALID', 'SOUL_PAYLOAD_MISMATCH', 'SOUL_TOO_LARGE', 'SOULS_WAITING'],
    ] as readonly RejectionCode[],
    sends: ['Anima-Revision'],
    responses: ok('The NPC as it was imported.', ImportedSoul, examples.imported),
    handler: async (call) => {
      const { sicTxId, sicDownloadResult: result, copy } = call.body;
      const request = asked(call, sicTxId);
      if (!result.adrSuccess) {
        const reason = cutText(result.adrError ?? 'The client reported that the download failed.', ERROR_CHARS);
        return giveUpImport(services, request, reason);
      }
      const given = { document: await documentOf(result.adrBody), copy: copy ?? false };
      const { document, soul, revision, position } = await receiveSoul(services, request, given);
      const { persona = null, data = {} } = broughtBy(document);
      const { npcId, soulId, kid, signer } = soul;
      return { revision, position, body: { npcId, persona, data, soulId, copy: soul.copy, kid, signer } };
    },
  }),
  route('GET', '/npcs/:npcId/custody', {
    operationId: 'getCustody',
    tag: 'Souls',
    summary: 'Get the chain of custody of an NPC',
    description:
      'The souls that it came from, oldest first: one link for each import. The chain of an NPC that began here is empty.',
    scope: 'souls',
    ext: true,
    params: NpcParams,
    refuses: ['NPC_NOT_FOUND'],
    sends: ['Anima-Revision'],
    responses: ok('The chain.', CustodySchema, examples.custody),
    handler: async (call) => {
      const { npcId } = call.params;
      const { revision, copy, chain } = await custodyOf(services, call.principal.tenant, npcId);
      const { events, readModels, trust } = services;
      const links = { events, readModels, keys: trust.keys };
      return { revision, body: { npcId, copy, chain: await withVerified(links, chain) } };
    },
  }),
];
