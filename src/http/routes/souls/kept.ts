import { Type } from '@sinclair/typebox';

import { Lines } from '../../../app/pacing/line.js';
import { READ_WAIT_MS } from '../../../app/read-models/read-wait.js';
import { archiveUrl } from '../../../app/souls/archive-url.js';
import { disclose } from '../../../app/souls/disclose.js';
import { downloadAddress } from '../../../app/souls/download-address.js';
import { findPayload } from '../../../app/souls/find-payload.js';
import { keptPayload } from '../../../app/souls/kept-payload.js';
import type { OtherArchives } from '../../../app/souls/other-archives.js';
import { payloadDocument } from '../../../app/souls/payload-document.js';
import { proofOf } from '../../../app/souls/soul-proof.js';
import { type SoulTrust, verifySoul } from '../../../app/souls/soul-signer.js';
import type { Json } from '../../../domain/shared/json.js';
import { Rejection } from '../../../domain/shared/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { nullWhenAway } from '../../../domain/soul/archive-unavailable.js';
import { soulSchema } from '../../../domain/soul/soul-schema.js';
import { souls, soulsListed, type SoulRow } from '../../../../projections/souls.js';
import { nextLink, pageOf, pageQuery } from '../../page.js';
import { type RouteDefinition, route } from '../../route.js';
import { FreeObject } from '../../schemas.js';
import { protocolSoul } from '../../soul-answer.js';

/** Items of a list that names no limit (contract 8.5). */
const DEFAULT_SOULS = 50;

const SoulParams = Type.Object({ txId: Type.String({ minLength: 1, maxLength: 256 }) });

export type KeptSoulServices = {
  readonly trust: SoulTrust;
  readonly ports: Pick<Ports, 'readModels' | 'soulArchive' | 'events'>;
  readonly archives: OtherArchives;
  readonly publicUrl: string;
};

const listed = (row: Json, publicUrl: string) => {
  const { name, npcId, place } = row as unknown as SoulRow;
  const { txId = '', at: exportedAt, url = '' } = place ?? {};
  // The address of this server may have changed since.
  const arweaveUrl = url.endsWith(archiveUrl('', txId)) ? archiveUrl(publicUrl, txId) : url;
  return { txId, name, npcId, exportedAt, arweaveUrl };
};

/** What archives keep: listed, read, verified, proven (contract 8.5, 8.8). */
export const keptSoulRoutes = (services: KeptSoulServices, lines = new Lines()): readonly RouteDefinition[] => {
  const { ports, archives, publicUrl, trust } = services;
  const find = (txId: string) => findPayload({ archive: ports.soulArchive, gateways: archives.gateways }, txId);
  /** The payload under an id, wherever it is. @throws Rejection SOUL_NOT_FOUND */
  const required = async (txId: string): Promise<Uint8Array> => {
    const found = await find(txId);
    if (found === null) throw new Rejection('SOUL_NOT_FOUND');
    return found.bytes;
  };
  /** A soul takes much memory while it is read, and time: one after the other. @throws Rejection BUSY */
  const verify = (bytes: Uint8Array) =>
    lines.inTurn('verify', async () => verifySoul(await payloadDocument(bytes), trust));
  /** Only what verifies is shown as a soul. @throws Rejection SOUL_NOT_FOUND */
  const sound = async (bytes: Uint8Array | null) => {
    const verified = bytes === null ? null : await verify(bytes);
    if (verified?.valid !== true) throw new Rejection('SOUL_NOT_FOUND');
    return verified;
  };
  return [
    route({
      operationId: 'listSouls',
      method: 'GET',
      path: '/souls',
      tag: 'Souls',
      summary: 'The souls that were exported, newest first',
      scope: 'souls',
      query: Type.Object(pageQuery),
      responses: {
        200: {
          description: 'The souls; `Link` leads to the next page.',
          schema: Type.Object({
            souls: Type.Array(
              Type.Object({
                txId: Type.String(),
                name: Type.String(),
                npcId: Type.String(),
                exportedAt: Type.String({ format: 'date-time' }),
                arweaveUrl: Type.String(),
              }),
            ),
          }),
        },
      },
      handler: async (call) => {
        await ports.readModels.reachedPosition(souls, call.wrote, READ_WAIT_MS);
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
    route({
      operationId: 'soulSchema',
      method: 'GET',
      path: '/souls/schema',
      tag: 'Souls',
      summary: 'The JSON Schema of the soul document',
      scope: 'souls',
      ext: true,
      responses: { 200: { description: 'The schema (JSON Schema 2020-12).', schema: FreeObject } },
      handler: () => ({ body: soulSchema }),
    }),
    route({
      operationId: 'getSoul',
      method: 'GET',
      path: '/souls/:txId',
      tag: 'Souls',
      summary: 'Where a soul can be read, and the soul if it is here',
      scope: 'souls',
      params: SoulParams,
      responses: {
        200: {
          description: 'Where to read it. `soul` is absent when this server does not have it, or it does not verify.',
          schema: Type.Object({
            si1Instruction: Type.Object({ adiGatewayUrl: Type.String(), adiExpectedTxId: Type.String() }),
            soul: Type.Optional(FreeObject),
          }),
        },
      },
      handler: async (call) => {
        const { txId } = call.params;
        // A client can still ask an archive that this server cannot.
        const found = await find(txId).catch(nullWhenAway);
        const verified = found && (await verify(found.bytes));
        const adiGatewayUrl = downloadAddress(txId, found?.isKept === true, { ...archives, publicUrl });
        return {
          body: {
            si1Instruction: { adiGatewayUrl, adiExpectedTxId: txId },
            ...(verified?.valid === true ? { soul: protocolSoul(verified.soul) } : {}),
          },
        };
      },
    }),
    route({
      operationId: 'verifySoul',
      method: 'POST',
      path: '/souls/:txId/verify',
      tag: 'Souls',
      summary: 'Whether an archived soul is whole, and who signed it',
      scope: 'souls',
      params: SoulParams,
      responses: {
        200: {
          description: 'Whether it is; if not, why.',
          schema: Type.Object(
            { valid: Type.Boolean(), reason: Type.Optional(Type.String()), signer: Type.Optional(Type.String()) },
            { additionalProperties: true },
          ),
        },
      },
      handler: async (call) => {
        const outcome = await verify(await required(call.params.txId));
        if (!outcome.valid) return { body: outcome };
        const { signer, kid, soul } = outcome;
        return { body: { valid: true, signer, kid, soulId: soul.id } };
      },
    }),
    route({
      operationId: 'proveMemory',
      method: 'GET',
      path: '/souls/:txId/proof',
      tag: 'Souls',
      summary: 'Shows that one memory is in a soul, without the others',
      scope: 'souls',
      ext: true,
      params: SoulParams,
      query: Type.Object({ memoryId: Type.String({ minLength: 1, maxLength: 256 }) }),
      responses: {
        200: {
          description: 'The memory and its path in the Merkle tree (RFC 9162, section 2.1.3).',
          schema: Type.Object(
            {
              txId: Type.String(),
              soulId: Type.String(),
              memory: FreeObject,
              part: Type.Integer(),
              parts: Type.Integer(),
              path: Type.Array(Type.String()),
              root: Type.String(),
              signature: Type.String(),
            },
            { additionalProperties: true },
          ),
        },
      },
      handler: async (call) => {
        const { txId } = call.params;
        const { soul } = await sound(await keptPayload(ports.soulArchive, txId));
        const proof = await proofOf(soul, call.query.memoryId);
        if (proof === null) throw new Rejection('MEMORY_NOT_FOUND');
        return { body: { txId, ...proof } };
      },
    }),
    route({
      operationId: 'discloseSoul',
      method: 'GET',
      path: '/souls/:txId/disclosure',
      tag: 'Souls',
      summary: 'Whose data stands in a soul',
      description: 'Players are those that bodies named; docs/souls.md says how, and what cannot be found.',
      scope: 'souls',
      ext: true,
      params: SoulParams,
      responses: {
        200: {
          description: 'The players, and the memories and places of the state that are about them.',
          schema: Type.Object(
            {
              txId: Type.String(),
              soulId: Type.String(),
              npcId: Type.String(),
              bytes: Type.Integer(),
              without: Type.Array(Type.String()),
              turns: Type.String({ enum: ['read', 'unread'] }),
              persona: FreeObject,
              players: Type.Array(FreeObject),
              memories: FreeObject,
              state: FreeObject,
              more: Type.Optional(Type.Boolean()),
            },
            { additionalProperties: true },
          ),
        },
      },
      handler: async (call) => {
        const { txId } = call.params;
        const bytes = await keptPayload(ports.soulArchive, txId);
        const { soul, signer } = await sound(bytes);
        const isOwn = signer === 'ours' && soul.provenance.tenant === call.principal.tenant;
        // It may read a whole mind: one after the other.
        const disclosure = await lines.inTurn('disclosure', () =>
          disclose(ports.events, soul, bytes?.length ?? 0, isOwn),
        );
        return { body: { txId, ...disclosure } };
      },
    }),
  ];
};
