import { Type } from '@sinclair/typebox';

import { inSlices } from '../../../app/pacing/in-slices.js';
import type { ArchiveGrant } from '../../../app/souls/archive-grant.js';
import { archiveAddress, archiveUrl } from '../../../app/souls/archive-url.js';
import type { OtherArchives } from '../../../app/souls/other-archives.js';
import { beginExport, endExport, type ExportDeps, exportRef, sealedDigest } from '../../../app/souls/export-soul.js';
import { jcsSlices } from '../../../domain/shared/jcs-slices.js';
import { isObject, type Json, type JsonObject } from '../../../domain/shared/json.js';
import { uploadedPlace } from '../../../app/souls/uploaded-place.js';
import { sealedSoul } from '../../../app/souls/sealed-soul.js';
import { parseProcessId } from '../../../domain/shared/process-id.js';
import { Rejection } from '../../../domain/shared/rejection.js';
import { sha256Base64url } from '../../../domain/shared/sha256.js';
import { cutText } from '../../../domain/shared/text.js';
import type { SoulDocument } from '../../../domain/soul/document.js';
import type { SoulArchive } from '../../../ports/soul-archive.js';
import { contextOf, mindStream } from '../../command-context.js';
import { readJson } from '../../json.js';
import { type RouteDefinition, route } from '../../route.js';
import { AnyJson, ClientId, FreeObject, NpcParams, nullable } from '../../schemas.js';
import { protocolSoul } from '../../soul-answer.js';

/** Bytes of a request that brings a soul (contract 1.2). */
export const SOUL_BODY_BYTES = 16 * 1024 * 1024;
/** Of what a client says about a failed upload, in UTF-16 units. */
const ERROR_CHARS = 500;

const UploadResult = Type.Object({
  aurTxId: nullable(Type.String({ maxLength: 256 })),
  aurStatus: nullable(Type.Integer()),
  aurSuccess: Type.Boolean(),
  aurError: nullable(Type.String()),
});

export type ExportServices = ExportDeps & {
  readonly archive: SoulArchive;
  readonly archives: OtherArchives;
  readonly publicUrl: string;
  /** A grant to upload a payload, for an Authorization header. */
  readonly grantFor: (grant: ArchiveGrant) => Promise<string>;
};

/** The two phases of an export (contract 8.1, 8.2). */
export const exportRoutes = (services: ExportServices): readonly RouteDefinition[] => {
  const { archive, archives, publicUrl, grantFor } = services;
  return [
    route({
      operationId: 'exportSoul',
      method: 'POST',
      path: '/npcs/:npcId/soul/export',
      tag: 'Souls',
      summary: 'Make and sign the soul of an NPC, and say where to upload it',
      description:
        'The first of two phases. POST `auiPayload` to `auiEndpoint` with the header `Authorization: <auiAuthHeader>`, then confirm with `POST /npcs/{npcId}/soul/confirm`.',
      scope: 'souls',
      params: NpcParams,
      writesTo: mindStream,
      body: Type.Object({
        npcIdRef: nullable(ClientId),
        persona: nullable(Type.String()),
        npcState: nullable(FreeObject),
        includeMemories: nullable(Type.Boolean({ default: true })),
      }),
      responses: {
        200: {
          description: 'What to upload, where, and by which right.',
          schema: Type.Object({
            se1Instruction: Type.Object({
              auiEndpoint: Type.String(),
              auiContentType: Type.String(),
              auiAuthHeader: Type.String(),
              auiPayload: FreeObject,
            }),
            se1SignedPayload: FreeObject,
            se1Signature: Type.String(),
          }),
        },
      },
      handler: async (call) => {
        const { npcId } = call.params;
        const { npcIdRef, persona, npcState, includeMemories } = call.body;
        if (typeof npcIdRef === 'string' && npcIdRef !== npcId) throw new Rejection('SOUL_ID_DIFFERS');
        const { keyed, resumed, ...by } = contextOf(call);
        const {
          export: { seal, deadlineAt },
          revision,
          position,
        } = await beginExport(services, {
          stream: mindStream(call),
          npcState: npcState ?? {},
          ...(typeof persona === 'string' ? { persona } : {}),
          includeMemories: includeMemories ?? true,
          uploadedBy: 'client',
          ...{ by, keyed, resumed },
        });
        const digest = seal?.digest ?? '';
        const document = await sealedSoul(archive, digest);
        const { tenant } = call.principal;
        return {
          revision,
          position,
          body: {
            se1Instruction: {
              auiEndpoint: archives.bundler?.url ?? archiveAddress(publicUrl),
              auiContentType: 'application/json',
              auiAuthHeader:
                archives.bundler === null
                  ? await grantFor({ digest, tenant, npcId, expiresAt: new Date(deadlineAt) })
                  : `Bearer ${archives.bundler.token}`,
              auiPayload: document,
            },
            se1SignedPayload: document,
            se1Signature: document.signature,
          },
        };
      },
    }),
    route({
      operationId: 'confirmSoul',
      method: 'POST',
      path: '/npcs/:npcId/soul/confirm',
      tag: 'Souls',
      summary: 'Say how the upload of a soul ended',
      description: 'The second of two phases. Confirming twice gives the first answer.',
      scope: 'souls',
      params: NpcParams,
      bodyLimit: SOUL_BODY_BYTES,
      writesTo: mindStream,
      body: Type.Object({ secUploadResult: UploadResult, secSignedPayload: AnyJson, secSignature: Type.String() }),
      responses: {
        200: {
          description: 'The soul, and where it can be read.',
          schema: Type.Object({
            txId: Type.String(),
            arweaveUrl: Type.String(),
            signature: Type.String(),
            soul: FreeObject,
          }),
        },
      },
      handler: async (call) => {
        const { secUploadResult: result, secSignedPayload, secSignature } = call.body;
        const document = payloadOf(secSignedPayload);
        const soulId = typeof document?.['id'] === 'string' ? document['id'] : '';
        if (document === null || parseProcessId(soulId) === null) throw new Rejection('SOUL_EXPORT_NOT_FOUND');
        const ref = exportRef(mindStream(call), soulId);
        const by = contextOf(call);
        const sealed = await sealedDigest(services, ref);
        const digest = sha256Base64url(await inSlices(jcsSlices(document)));
        if (secSignature !== document['signature'] || digest !== sealed) throw new Rejection('SOUL_PAYLOAD_MISMATCH');
        if (!result.aurSuccess) {
          const reason = cutText(result.aurError ?? 'The client says that the upload failed.', ERROR_CHARS);
          await endExport(services, ref, { type: 'failed', code: 'SOUL_UPLOAD_FAILED', reason }, by);
        }
        // What was exported stays so, whatever is said now.
        const claimed = result.aurSuccess
          ? await uploadedPlace(services, digest, result.aurTxId ?? null)
          : { txId: digest, url: archiveUrl(publicUrl, digest) };
        const ended = await endExport(services, ref, { type: 'uploaded', digest, ...claimed }, by);
        const { place } = ended.export;
        return {
          revision: ended.revision,
          position: ended.position,
          body: {
            txId: place?.txId ?? claimed.txId,
            arweaveUrl: place?.url ?? claimed.url,
            signature: secSignature,
            soul: protocolSoul(document as unknown as SoulDocument),
          },
        };
      },
    }),
  ];
};

/** The document that a client brings back: an object, or its JSON text. @throws Rejection MALFORMED_JSON */
const payloadOf = (payload: Json): JsonObject | null => {
  if (isObject(payload)) return payload;
  const parsed = typeof payload === 'string' ? readJson(payload) : null;
  return isObject(parsed) ? parsed : null;
};
