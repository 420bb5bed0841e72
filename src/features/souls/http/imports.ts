import { Type } from '@sinclair/typebox';

import { custodyOf } from '../custody-chain.js';
import { downloadAddress } from '../download-address.js';
import { beginImport, giveUpImport, type ImportDeps, receiveSoul } from '../import-soul.js';
import { keptPayload } from '../kept-payload.js';
import type { OtherArchives } from '../other-archives.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { cutText } from '../../../kernel/base/text.js';
import { broughtBy } from '../domain/soul-state.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { readJsonText } from '../../../kernel/http/json-text.js';
import { TX_ID } from '../../../kernel/http/patterns.js';
import { AnyJson, FreeObject, NpcParams, nullable, openObject } from '../../../kernel/http/schemas.js';
import { SOUL_BODY_BYTES } from './exports.js';

/** Of what a client says about a failed download, in UTF-16 units. */
const ERROR_CHARS = 500;

const TxId = Type.String({ minLength: 1, maxLength: 128, pattern: TX_ID });

const DownloadResult = Type.Object({
  adrBody: Type.Optional(AnyJson),
  adrStatus: nullable(Type.Integer()),
  adrSuccess: Type.Boolean(),
  adrError: nullable(Type.String()),
});

export type ImportServices = ImportDeps & { readonly publicUrl: string; readonly archives: OtherArchives };

/** The document that a client brings: an object, or its JSON text. */
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
    summary: 'Begin to import a soul: where to download it',
    description:
      'The first of two phases. GET `{adiGatewayUrl}/{adiExpectedTxId}`, then confirm with `POST /npcs/import/confirm`.',
    scope: 'souls',
    body: Type.Object({ txIdRef: TxId }),
    responses: ok(
      'Where the soul can be downloaded, without a key.',
      Type.Object({
        si1Instruction: Type.Object({ adiGatewayUrl: Type.String(), adiExpectedTxId: Type.String() }),
      }),
    ),
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
    summary: 'Bring the downloaded soul: it becomes an NPC',
    description: 'The second of two phases. Confirming twice with the same document gives the first answer.',
    scope: 'souls',
    bodyLimit: SOUL_BODY_BYTES,
    body: Type.Object({
      sicTxId: TxId,
      sicDownloadResult: DownloadResult,
      copy: nullable(Type.Boolean({ description: 'Import it under another npcId, beside whoever has it already.' })),
    }),
    responses: ok(
      'The NPC as it came in.',
      openObject({
        npcId: Type.String(),
        persona: Type.Union([Type.String(), Type.Null()]),
        data: FreeObject,
        soulId: Type.String(),
        copy: Type.Boolean(),
        kid: Type.String({ description: 'The key that signed the soul.' }),
        signer: Type.String({ enum: ['ours', 'known', 'unknown'] }),
      }),
    ),
    handler: async (call) => {
      const { sicTxId, sicDownloadResult: result, copy } = call.body;
      const request = asked(call, sicTxId);
      if (!result.adrSuccess) {
        const reason = cutText(result.adrError ?? 'The client says that the download failed.', ERROR_CHARS);
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
    summary: 'The souls that an NPC came from, oldest first',
    scope: 'souls',
    ext: true,
    params: NpcParams,
    responses: ok(
      'One link for each time that it was imported somewhere; none for an NPC that began here.',
      Type.Object({ npcId: Type.String(), copy: Type.Boolean(), chain: Type.Array(FreeObject) }),
    ),
    handler: async (call) => {
      const { npcId } = call.params;
      const { revision, copy, chain } = await custodyOf(services, call.principal.tenant, npcId);
      return { revision, body: { npcId, copy, chain } };
    },
  }),
];
