import { createHash } from 'node:crypto';

import { Type } from '@sinclair/typebox';

import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { KeyedMutex } from '../../../kernel/concurrency/keyed-mutex.js';
import { type ArchiveGrant, readArchiveGrant } from '../archive-grant.js';
import { keptDigest } from '../kept-payload.js';
import { payloadDigest } from '../../../kernel/crypto/content-digest.js';
import { payloadType } from '../payload-document.js';
import { createShownPayloads } from '../shown-payloads.js';
import { takePayload } from '../take-payload.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import { MAX_ARCHIVED_BYTES } from '../../../ports/soul-archive.js';
import { canonicalBody } from '../../../kernel/base/read-json.js';
import { namesTag } from '../../../kernel/http/entity-tag.js';
import { route, type RouteDefinition } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { pathId } from '../../../kernel/http/schemas.js';
import { archiveExamples as examples } from './examples.js';
import { SoulDocumentSchema } from './schemas.js';
import { shownAnswer } from './shown-answer.js';

export type ArchiveRouteDeps = {
  readonly ports: Pick<Ports, 'soulArchive' | 'clock'>;
  readonly signingKeys: Pick<SigningKeys, 'publicKey' | 'isVoid'>;
  /** Whether the export that a grant is for still wants its upload. */
  readonly mayUpload: (grant: ArchiveGrant) => Promise<boolean>;
};

const ArchivedPayload = named('ArchivedPayload', Type.Object({ id: Type.String() }));

/**
 * The maximum number of uploads that one process accepts at a time, in total and from one tenant: each is held in memory, however slowly it arrives.
 */
const UPLOADS = 16;
const TENANT_UPLOADS = 8;
/** The maximum number of payloads in memory for their readers: at most 512 MiB, and only if all have the maximum size. */
export const SHOWN_PAYLOADS = 32;
/** A payload never changes, but it may be withdrawn: caches ask again after an hour. */
const FOR_AN_HOUR = 'public, max-age=3600, immutable';
const BEARER = /^Bearer +(\S+) *$/i;
const GRANT_NEEDED =
  'A valid grant for this payload is required. Send the auiAuthHeader of the export as Authorization.';

/** The bytes of a body, and their digest, made as they come. */
const collected = async (
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly body: Buffer; readonly digest: string }> => {
  const hash = createHash('sha256');
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) {
    hash.update(chunk);
    chunks.push(chunk);
  }
  return { body: Buffer.concat(chunks), digest: hash.digest('base64url') };
};

/** The built-in archive of souls. */
export const archiveRoutes = ({ ports, signingKeys, mayUpload }: ArchiveRouteDeps): readonly RouteDefinition[] => {
  const { soulArchive: archive, clock } = ports;
  const shown = createShownPayloads((digest) => archive.readPublic(digest), new Semaphore(SHOWN_PAYLOADS));
  const mutex = new KeyedMutex();
  const uploads = new Semaphore(UPLOADS, TENANT_UPLOADS);

  const grantIn = async (authorization: string | undefined): Promise<ArchiveGrant> => {
    const token = BEARER.exec(authorization ?? '')?.[1];
    const grant = token === undefined ? null : await readArchiveGrant({ keys: signingKeys, clock }, token);
    if (grant === null) throw new Rejection('UNAUTHORIZED', { message: GRANT_NEEDED });
    await requireWanted(grant);
    return grant;
  };
  /** @throws Rejection UNAUTHORIZED once the export has failed or expired: what was not to leave must not be published */
  const requireWanted = async (grant: ArchiveGrant): Promise<void> => {
    if (!(await mayUpload(grant))) throw new Rejection('UNAUTHORIZED', { message: GRANT_NEEDED });
  };

  /**
   * The payload that a body holds. Clients that write the payload again send other bytes of the same value. Of those one after the other is read, so
   * that they do not fill the memory together.
   * @throws Rejection MALFORMED_JSON, SOUL_PAYLOAD_MISMATCH
   */
  const payloadIn = async (bytes: AsyncIterable<Uint8Array>, digest: string): Promise<Uint8Array> => {
    const received = await collected(bytes);
    if (received.digest === digest) return received.body;
    return mutex.runExclusive('canonical', async () => {
      const payload = Buffer.from(await inSlices(canonicalBody(received.body)));
      if ((await inSlices(payloadDigest(payload))) === digest) return payload;
      throw new Rejection('SOUL_PAYLOAD_MISMATCH');
    });
  };

  return [
    route('POST', '/archive', {
      operationId: 'uploadToArchive',
      tag: 'Souls',
      summary: 'Upload the payload of a soul export',
      description:
        'Send the `auiAuthHeader` of the export as `Authorization`; a key is not needed. The payload is read as JSON whatever its content type, and compared by its canonical form (JCS). You can repeat the request.',
      scope: null,
      admits: grantIn,
      bytes: { accepts: '*/*', maxBytes: MAX_ARCHIVED_BYTES },
      sends: ['X-Id'],
      responses: {
        200: {
          description: 'The archive already had the payload.',
          schema: ArchivedPayload,
          example: examples.archived,
        },
        201: {
          description: 'The payload is archived.',
          schema: ArchivedPayload,
          example: examples.archived,
        },
      },
      refuses: ['MALFORMED_JSON', 'SOUL_PAYLOAD_MISMATCH'],
      enter: ({ granted }) => uploads.acquire(granted.tenant),
      handler: async ({ bytes, granted }) => {
        const { digest, tenant } = granted;
        const payload = await payloadIn(bytes, digest);
        // The export may have ended while the body came.
        await requireWanted(granted);
        const publication = await takePayload({ archive, clock }, { digest, tenant, bytes: payload });
        const status = publication === 'published' ? 201 : 200;
        return { status, headers: { 'x-id': digest }, body: { id: digest } };
      },
    }),
    route('GET', '/archive/:txId', {
      operationId: 'getFromArchive',
      tag: 'Souls',
      summary: 'Get a payload from the archive',
      description:
        'A payload never changes. A soul that was exported to IPFS is also found by its CID. A soul that was exported as binary is `application/cbor`.',
      scope: null,
      params: Type.Object({ txId: pathId('The id of the payload.', 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo') }),
      refuses: ['ARCHIVE_NOT_FOUND'],
      responses: {
        200: {
          description: 'The payload.',
          schema: SoulDocumentSchema,
          example: examples.payload,
          contentType: 'application/json',
          stream: 'finite',
        },
        304: { description: '`If-None-Match` names this payload.' },
      },
      handler: async (call) => {
        const { txId } = call.params;
        const digest = await keptDigest(archive, txId);
        const payload = digest === null ? null : await shown.open(digest);
        if (payload === null) throw new Rejection('ARCHIVE_NOT_FOUND');
        const etag = `"${txId}"`;
        const headers = { ETag: etag, 'Cache-Control': FOR_AN_HOUR, 'X-Content-Type-Options': 'nosniff' };
        const isKnown = namesTag(call.header('if-none-match') ?? '', etag);
        if (!isKnown) return { headers, stream: shownAnswer(call.koa, payload, payloadType(payload.bytes)) };
        payload.close();
        return { status: 304, headers };
      },
    }),
  ];
};
