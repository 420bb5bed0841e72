import { Type } from '@sinclair/typebox';

import type { ArchiveGrant } from '../archive-grant.js';
import { canonicalPayload } from '../payload-digest.js';
import { archiveAddress, archiveUrl } from '../download-address.js';
import {
  beginExport,
  endExport,
  type ExportDeps,
  type ExportOutcome,
  exportRef,
  giveUpExport,
  sealedDigest,
  sealedExport,
} from '../export-soul.js';
import type { OtherArchives } from '../other-archives.js';
import type { SealedPayloads } from '../sealed-payloads.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { uploadedPlace } from '../uploaded-place.js';
import { sealedSoul } from '../sealed-soul.js';
import { parseProcessId } from '../../../kernel/crypto/process-id.js';
import { Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import { cutText } from '../../../kernel/base/text.js';
import type { LeftOut, SoulDocument } from '../domain/document.js';
import type { SoulArchive } from '../../../ports/soul-archive.js';
import {
  type Answer,
  type Call,
  contextOf,
  mindStream,
  route,
  type RouteDefinition,
  onBehalfOf,
} from '../../../kernel/http/route.js';
import { readJsonText } from '../../../kernel/http/json-text.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, FreeObject, NpcParams, nullable } from '../../../kernel/http/schemas.js';
import { soulExamples as examples } from './examples.js';
import { ConfirmSoulResponse, ExportSoulResponse } from './schemas.js';
import { firstPhase, secondPhase } from './sealed-answer.js';

/** The limit of a request that carries a soul, in bytes. */
export const SOUL_BODY_BYTES = 16 * 1024 * 1024;
/** Of what a client says about a failed upload, in UTF-16 units. */
const ERROR_CHARS = 500;

/** What a soul leaves out. */
export const WithoutList = Type.Array(Type.Literal('players'), {
  uniqueItems: true,
  description: 'What to leave out: `players` leaves out everything about players.',
});

/** What an export leaves out; an empty list leaves out nothing. */
export const leftOut = (without: readonly LeftOut[] | null | undefined): { readonly without?: readonly LeftOut[] } =>
  without === undefined || without === null || without.length === 0 ? {} : { without };

const ExportSoulRequest = named(
  'ExportSoulRequest',
  Type.Object({
    npcIdRef: nullable(Type.String({ ...ClientId, description: 'The same id as in the path.' })),
    persona: nullable(Type.String({ description: 'Used if none is recorded.' })),
    npcState: nullable(Type.Unsafe<JsonObject>({ ...FreeObject, description: 'Merged into the recorded state.' })),
    includeMemories: nullable(Type.Boolean({ default: true })),
    without: nullable(WithoutList),
  }),
);
const UploadResult = named(
  'UploadResult',
  Type.Object({
    aurTxId: nullable(Type.String({ maxLength: 256, description: 'The id that the archive returned.' })),
    aurStatus: nullable(Type.Integer({ description: 'The HTTP status of the upload.' })),
    aurSuccess: Type.Boolean(),
    aurError: nullable(Type.String({ description: 'Why the upload failed.' })),
  }),
);
const ConfirmSoulRequest = named(
  'ConfirmSoulRequest',
  Type.Object({
    secUploadResult: UploadResult,
    secSignedPayload: Type.Unsafe<Json>({
      description: 'The `se1SignedPayload` of the first phase, or its JSON text.',
    }),
    secSignature: Type.String({ description: 'The `se1Signature` of the first phase.' }),
  }),
);

export type ExportServices = ExportDeps & {
  readonly archive: SoulArchive;
  readonly payloads: SealedPayloads;
  readonly archives: OtherArchives;
  readonly publicUrl: string;
  /** A grant to upload a payload, for an Authorization header. */
  readonly grantFor: (grant: ArchiveGrant) => Promise<string>;
};

const common = { tag: 'Souls', scope: 'souls', params: NpcParams } as const;

/** The two phases of an export. */
export const exportRoutes = (services: ExportServices): readonly RouteDefinition[] => {
  const { archive, archives, payloads, publicUrl, grantFor } = services;
  /** The first phase of an export that is sealed. Its grant is always a new one, which ends with the export. */
  const begun = async (
    call: Call<{ npcId: string }>,
    { soulId, seal, deadlineAt }: ExportOutcome['export'],
  ): Promise<Answer> => {
    const digest = seal?.digest ?? '';
    const { tenant } = call.principal;
    const { npcId } = call.params;
    const instruction = {
      auiEndpoint: archives.bundler?.url ?? archiveAddress(publicUrl),
      auiContentType: 'application/json',
      auiAuthHeader:
        archives.bundler === null
          ? await grantFor({ digest, tenant, npcId, soulId, expiresAt: new Date(deadlineAt) })
          : `Bearer ${archives.bundler.token}`,
    };
    // Seals of the oldest events do not name it.
    const signature = seal?.signature ?? (await sealedSoul(archive, digest))?.signature ?? '';
    return { stream: firstPhase(payloads, { digest, tenant }, instruction, signature), kept: { soulId } };
  };
  return [
    route('POST', '/npcs/:npcId/soul/export', {
      ...common,
      operationId: 'exportSoul',
      summary: 'Start to export the soul of an NPC',
      description:
        'The first of two phases: the server makes and signs the soul. POST `auiPayload` to `auiEndpoint` with the header `Authorization: <auiAuthHeader>`, then confirm with `POST /npcs/{npcId}/soul/confirm`.',
      writesTo: mindStream,
      body: ExportSoulRequest,
      example: examples.export,
      refuses: [
        ...['NPC_NOT_FOUND', 'SOUL_EXCHANGE_EXPIRED', 'EVENTS_TOO_LARGE', 'SOUL_ID_DIFFERS', 'SOUL_INVALID'],
        ...['SOUL_TOO_LARGE', 'SOULS_WAITING', 'CHAIN_BROKEN'],
      ] as readonly RejectionCode[],
      sends: ['Anima-Revision'],
      responses: {
        200: {
          description: 'What to upload, and where.',
          stream: 'finite',
          schema: ExportSoulResponse,
          example: examples.exported,
        },
      },
      handler: async (call) => {
        const { npcId } = call.params;
        const { npcIdRef, persona, npcState, includeMemories, without } = call.body;
        if (typeof npcIdRef === 'string' && npcIdRef !== npcId) throw new Rejection('SOUL_ID_DIFFERS');
        const { keyed, resumed } = call;
        const by = onBehalfOf(call);
        const { export: sealed, ...at } = await beginExport(services, {
          stream: mindStream(call),
          npcState: npcState ?? {},
          ...(typeof persona === 'string' ? { persona } : {}),
          includeMemories: includeMemories ?? true,
          ...leftOut(without),
          uploadedBy: 'client',
          ...{ by, keyed, resumed },
        });
        return { ...at, ...(await begun(call, sealed)) };
      },
      restore: async (call, kept) =>
        begun(call, await sealedExport(services, exportRef(mindStream(call), soulIdIn(kept)))),
    }),
    route('POST', '/npcs/:npcId/soul/confirm', {
      ...common,
      operationId: 'confirmSoul',
      summary: 'Confirm the upload of a soul',
      description: 'The second of two phases. Repeating the request returns the first response.',
      bodyLimit: SOUL_BODY_BYTES,
      writesTo: mindStream,
      body: ConfirmSoulRequest,
      example: examples.confirm,
      refuses: [
        ...['SOUL_EXPORT_NOT_FOUND', 'SOUL_EXCHANGE_EXPIRED', 'SOUL_PAYLOAD_MISMATCH'],
        'SOUL_UPLOAD_FAILED',
      ] as readonly RejectionCode[],
      sends: ['Anima-Revision'],
      responses: {
        200: {
          description: 'The soul, and where it can be read.',
          stream: 'finite',
          schema: ConfirmSoulResponse,
          example: examples.confirmed,
        },
      },
      handler: async (call) => {
        const { secUploadResult: result, secSignedPayload, secSignature } = call.body;
        const document = await payloadOf(secSignedPayload);
        const soulId = typeof document?.['id'] === 'string' ? document['id'] : '';
        if (document === null || parseProcessId(soulId) === null) throw new Rejection('SOUL_EXPORT_NOT_FOUND');
        const ref = exportRef(mindStream(call), soulId);
        const by = contextOf(call);
        const sealed = await sealedDigest(services, ref);
        const { digest } = await canonicalPayload(document);
        if (secSignature !== document['signature'] || digest !== sealed) throw new Rejection('SOUL_PAYLOAD_MISMATCH');
        if (!result.aurSuccess) {
          const reason = cutText(result.aurError ?? 'The client reported that the upload failed.', ERROR_CHARS);
          await giveUpExport(services, ref, { digest, reason }, by);
        }
        // A finished export stays finished, whatever the client reports now.
        const claimed = result.aurSuccess
          ? await uploadedPlace(services, digest, result.aurTxId ?? null)
          : { txId: digest, url: archiveUrl(publicUrl, digest) };
        const ended = await endExport(services, ref, { type: 'uploaded', digest, ...claimed }, by);
        const { place = claimed } = ended.export;
        return {
          revision: ended.revision,
          position: ended.position,
          stream: await secondPhase(document as unknown as SoulDocument, secSignature, place),
          kept: { txId: place.txId, url: place.url },
        };
      },
      // The repeated request contains the same document.
      restore: async ({ body: { secSignedPayload, secSignature } }, kept) => {
        const document = ((await payloadOf(secSignedPayload)) ?? {}) as unknown as SoulDocument;
        return { stream: await secondPhase(document, secSignature, kept as { txId: string; url: string }) };
      },
    }),
  ];
};

/** The soul that a kept answer is about. */
export const soulIdIn = (kept: Json): string =>
  isObject(kept) && typeof kept['soulId'] === 'string' ? kept['soulId'] : '';

/** The document that a client sends back: an object, or its JSON text. @throws Rejection MALFORMED_JSON, BODY_TOO_LARGE */
const payloadOf = async (payload: Json): Promise<JsonObject | null> => {
  if (isObject(payload)) return payload;
  const parsed = typeof payload === 'string' ? await readJsonText('/secSignedPayload', payload) : null;
  return isObject(parsed) ? parsed : null;
};
