import { Type } from '@sinclair/typebox';

import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { KeyedMutex } from '../../../kernel/concurrency/keyed-mutex.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { archiveUrl, downloadAddress } from '../download-address.js';
import { disclose } from '../disclose.js';
import { findPayload } from '../find-payload.js';
import { keptDigest, keptPayload } from '../kept-payload.js';
import type { OtherArchives } from '../other-archives.js';
import { proofOf } from '../soul-proof.js';
import { createShownPayloads, type ShownPayloads } from '../shown-payloads.js';
import { createSoulReader } from '../soul-reader.js';
import type { SoulTrust } from '../verify-soul.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { withdrawSoul } from '../withdraw-soul.js';
import type { Json } from '../../../kernel/base/json.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { nullWhenAway } from '../../../ports/archive-unavailable.js';
import { soulSchema } from '../domain/soul-schema.js';
import { souls, soulsListed, type SoulRow } from '../../../../projections/souls.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { pathId } from '../../../kernel/http/schemas.js';
import { keptSoulExamples as examples } from './kept-soul-examples.js';
import { FoundSoul, JsonSchema, MemoryProof, SoulDisclosure, SoulList, VerifiedSoul } from './schemas.js';
import { jsonInPieces, shownAnswer } from './shown-answer.js';
import { protocolSoulText } from './soul-answer.js';

/** The default length of a list. */
const DEFAULT_SOULS = 50;

/**
 * The maximum number of payloads in memory that are returned, verified or examined, in total and for one tenant: at most 256 MiB each, and only if
 * all have the maximum size.
 */
export const SOULS_READ = 16;
export const TENANT_SOULS_READ = 8;

/** The maximum number of proofs and disclosures that are being made or sent, in total and for one tenant: a disclosure may have 10 MB. */
export const LOOKED_INTO = 32;
export const TENANT_LOOKED_INTO = 16;

const SoulParams = Type.Object({
  txId: Type.String({
    ...pathId('The id of the soul in its archive.', 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo'),
    ...{ minLength: 1, maxLength: 256 },
  }),
});

export type KeptSoulServices = {
  readonly trust: SoulTrust;
  readonly ports: Pick<Ports, 'readModels' | 'soulArchive' | 'events' | 'clock'>;
  readonly writers: StreamWriters;
  readonly archives: OtherArchives;
  readonly publicUrl: string;
};

const listed = (row: Json, publicUrl: string) => {
  const { name, npcId, place, withdrawnAt } = row as unknown as SoulRow;
  const { txId = '', at: exportedAt, url = '' } = place ?? {};
  // The address of this server may have changed since.
  const arweaveUrl = url.endsWith(archiveUrl('', txId)) ? archiveUrl(publicUrl, txId) : url;
  return { txId, name, npcId, exportedAt, arweaveUrl, ...defined({ withdrawnAt }) };
};

const common = { tag: 'Souls', scope: 'souls' } as const;

/** Routes to list, read, verify and prove the souls that archives keep. */
export const keptSoulRoutes = (services: KeptSoulServices, mutex = new KeyedMutex()): readonly RouteDefinition[] => {
  const { ports, writers, archives, publicUrl, trust } = services;
  const reader = createSoulReader(trust, mutex);
  const looks = new Semaphore(LOOKED_INTO, TENANT_LOOKED_INTO);
  const find = (txId: string, tenant: string) =>
    findPayload({ archive: ports.soulArchive, gateways: archives.gateways }, txId, tenant);
  /** The complete response about a soul. A client may reach an archive that this server cannot. */
  const answer = async (txId: string, tenant: string): Promise<Uint8Array> => {
    const found = await find(txId, tenant).catch(nullWhenAway);
    const soul = found && (await reader.read(found.bytes, (document) => inSlices(protocolSoulText(document))));
    const adiGatewayUrl = downloadAddress(txId, found?.isKept === true, { ...archives, publicUrl });
    const instruction = JSON.stringify({ si1Instruction: { adiGatewayUrl, adiExpectedTxId: txId } });
    return Buffer.from(soul === null ? instruction : `${instruction.slice(0, -1)},"soul":${soul}}`);
  };
  const soulPermits = () => new Semaphore(SOULS_READ, TENANT_SOULS_READ);
  // The trusted keys are fixed at the start, so a response may be shared while it is being read.
  const answers = createShownPayloads(answer, soulPermits());
  const found = createShownPayloads(async (txId, tenant) => (await find(txId, tenant))?.bytes ?? null, soulPermits());
  const kept = createShownPayloads((txId) => keptPayload(ports.soulArchive, txId), soulPermits());
  /** @throws Rejection SOUL_NOT_FOUND, BUSY, and what `use` throws */
  const using = async <T>(
    payloads: ShownPayloads,
    { params, principal }: Call<{ txId: string }>,
    use: (bytes: Uint8Array) => Promise<T | null>,
  ) => {
    const payload = await payloads.open(params.txId, principal.tenant);
    try {
      const made = payload && (await use(payload.bytes));
      if (made === null) throw new Rejection('SOUL_NOT_FOUND');
      return made;
    } finally {
      payload?.close();
    }
  };
  return [
    route('GET', '/souls', {
      ...common,
      operationId: 'listSouls',
      summary: 'List exported souls',
      description: 'Newest first; 50 by default.',
      query: Type.Object(pageQuery),
      responses: ok('The souls; `Link` names the next page.', SoulList, examples.list),
      handler: async (call) => {
        await ports.readModels.reachedPosition(souls, call.wrote);
        const page = pageOf({ limit: DEFAULT_SOULS, ...call.query });
        const { rows, more } = await ports.readModels.list(souls, {
          partition: soulsListed(call.principal.tenant),
          direction: 'descending',
          ...page,
        });
        return {
          headers: nextLink(call, page, rows, more),
          body: { souls: rows.map(({ row }) => listed(row, publicUrl)) },
        };
      },
    }),
    route('GET', '/souls/schema', {
      ...common,
      operationId: 'soulSchema',
      summary: 'Get the JSON Schema of soul documents',
      ext: true,
      responses: ok('The schema.', JsonSchema, examples.schema),
      handler: () => ({ body: soulSchema }),
    }),
    route('GET', '/souls/:txId', {
      ...common,
      operationId: 'getSoul',
      summary: 'Get a soul',
      description: 'Where to download it, and the soul itself if this server has it.',
      params: SoulParams,
      refuses: ['SOUL_NOT_FOUND'],
      responses: {
        200: {
          description: 'The soul. `soul` is absent if this server does not have it, or if it is not valid.',
          stream: 'finite',
          schema: FoundSoul,
          example: examples.found,
        },
      },
      handler: async (call) => {
        const payload = await answers.open(call.params.txId, call.principal.tenant);
        if (payload === null) throw new Rejection('SOUL_NOT_FOUND');
        return { stream: shownAnswer(call.koa, payload, JSON_TYPE) };
      },
    }),
    route('POST', '/souls/:txId/verify', {
      ...common,
      operationId: 'verifySoul',
      summary: 'Verify an archived soul',
      params: SoulParams,
      refuses: ['SOUL_NOT_FOUND'],
      responses: ok('Whether it is valid, and who signed it.', VerifiedSoul, examples.verified),
      handler: async (call) => {
        return { body: await using(found, call, (bytes) => reader.judge(bytes)) };
      },
    }),
    route('GET', '/souls/:txId/proof', {
      ...common,
      operationId: 'proveMemory',
      summary: 'Prove that a memory is in a soul',
      description: 'The proof does not disclose the other memories.',
      ext: true,
      params: SoulParams,
      query: Type.Object({
        memoryId: Type.String({
          ...{ minLength: 1, maxLength: 256, examples: ['mb_mwzc2q5c_oiZk_ZjxMhEOCiF1'] },
          description: 'The id of the memory in the soul.',
        }),
      }),
      refuses: ['SOUL_NOT_FOUND', 'MEMORY_NOT_FOUND'],
      responses: {
        200: {
          description: 'The memory and its path in the Merkle tree (RFC 9162, section 2.1.3).',
          stream: 'finite',
          schema: MemoryProof,
          example: examples.proof,
        },
      },
      enter: ({ principal }) => looks.acquire(principal.tenant),
      handler: async (call) => {
        const { txId } = call.params;
        const proof = await using(kept, call, (bytes) =>
          reader.read(bytes, async (soul) => ({ of: await proofOf(soul, call.query.memoryId) })),
        );
        if (proof.of === null) throw new Rejection('MEMORY_NOT_FOUND');
        return { stream: jsonInPieces({ txId, ...proof.of }) };
      },
    }),
    route('DELETE', '/souls/:txId', {
      ...common,
      operationId: 'withdrawSoul',
      summary: 'Withdraw a soul from the archive',
      description:
        'Nobody can read it in the archive of this server any more, and the history of its NPC says so. Only the tenant that exported it can withdraw it.',
      ext: true,
      params: SoulParams,
      refuses: ['SOUL_NOT_FOUND', 'CONFLICT', 'SOUL_ARRIVING'],
      responses: { 204: { description: 'The archive no longer has the soul.' } },
      enter: ({ principal }) => looks.acquire(principal.tenant),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { txId } = call.params;
        const own = await using(kept, call, (bytes) =>
          reader.read(bytes, async (soul, { signer }) => ({
            isOwn: signer === 'ours' && soul.provenance.tenant === tenant,
            ...{ soulId: soul.id, npcId: soul.provenance.npcId },
          })),
        );
        const digest = own.isOwn ? await keptDigest(ports.soulArchive, txId) : null;
        if (digest === null) throw new Rejection('SOUL_NOT_FOUND');
        const deps = { ...ports, writers, archive: ports.soulArchive };
        const withdrawal = { soulId: own.soulId, npcId: own.npcId, txId, digest };
        return { status: 204, ...(await withdrawSoul(deps, withdrawal, contextOf(call))) };
      },
    }),
    route('GET', '/souls/:txId/disclosure', {
      ...common,
      operationId: 'discloseSoul',
      summary: 'List the players whose data is in a soul',
      description: 'Players are found by the names that bodies reported.',
      ext: true,
      params: SoulParams,
      refuses: ['SOUL_NOT_FOUND', 'SOUL_TOO_LARGE'],
      responses: {
        200: {
          description: 'The players, and the memories and members of the state that are about them.',
          stream: 'finite',
          schema: SoulDisclosure,
          example: examples.disclosure,
        },
      },
      enter: ({ principal }) => looks.acquire(principal.tenant),
      handler: async (call) => {
        const { txId } = call.params;
        const { tenant } = call.principal;
        const disclosed = async (bytes: Uint8Array) => {
          const read = await reader.read(bytes, async (soul, { signer }) => ({ soul, signer }));
          const isOwn = read?.signer === 'ours' && read.soul.provenance.tenant === tenant;
          return read && disclose(ports, read.soul, bytes.length, isOwn);
        };
        // A disclosure may read an entire mind, so they run one at a time. The waiting ones hold no payload, so they do not block proofs.
        const disclosure = await mutex.runExclusive('disclosure', () => using(kept, call, disclosed));
        return { stream: jsonInPieces({ txId, ...disclosure }) };
      },
    }),
  ];
};
