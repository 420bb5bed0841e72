import { Type } from '@sinclair/typebox';

import { bundleOf, consistencyPath, proveMind, requireCheckpoint } from '../bundle.js';
import { type CheckpointAt, checkpointAt, checkpointBefore, newestCheckpoint } from '../log.js';
import { makeCheckpoint } from '../make-checkpoint.js';
import { auditMinds } from '../verify-log.js';
import { requireRevision } from '../../npcs/find-mind.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { EventStore } from '../../../ports/event-store.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import { contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { fileName } from '../../../kernel/http/file-name.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { NpcParams, nullable } from '../../../kernel/http/schemas.js';
import { TREE_SIZE } from '../../../kernel/http/patterns.js';

/** How many audits run at once in one process, and how many of one tenant: each reads many events. */
const AUDITS = 4;
const TENANT_AUDITS = 1;
const MAX_NPC_IDS = 1_000;
const NOTE_TYPE = 'text/plain; charset=utf-8';

const Hex = Type.String({ description: 'SHA-256, lower-case hexadecimal.' });
const Path = Type.Array(Hex);
const Checkpoint = Type.Object({
  size: Type.Integer({ description: 'How many leaves the log has.' }),
  root: Hex,
  at: Type.String({ format: 'date-time' }),
  kid: Type.String({ description: 'The key that signed it.' }),
  note: Type.String({ description: 'The checkpoint as C2SP signed-note and tlog-checkpoint have it.' }),
  leaves: Type.Integer({ description: 'How many leaves it added.' }),
});
const Leaf = Type.Object({ stream: Type.String(), revision: Type.Integer(), hash: Hex, at: Type.String() });
const Size = Type.Integer({ minimum: 0 });

const shown = ({ size, root, at, kid, note, leaves }: CheckpointAt) => ({ size, root, at, kid, note, leaves });

const common = { tag: 'Proofs', scope: 'audit', ext: true } as const;

type AuditRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly runtime: ProcessRuntime;
  readonly signingKeys: SigningKeys;
};

/** The routes of the log, except bundles. */
export const auditRoutes = (services: AuditRouteDeps): readonly RouteDefinition[] => {
  const { ports, writers, runtime, signingKeys } = services;
  const { events, clock } = ports;
  const permits = new Semaphore(AUDITS, TENANT_AUDITS);
  return [
    route('GET', '/audit/checkpoints', {
      ...common,
      operationId: 'listCheckpoints',
      summary: "The checkpoints of the tenant's log, newest first",
      query: Type.Object(pageQuery),
      responses: ok('The checkpoints.', Type.Array(Checkpoint)),
      handler: async (call) => {
        const { tenant } = call.principal;
        const page = pageOf(call.query);
        const limit = Math.min(page.limit, 500);
        const found: CheckpointAt[] = [];
        const last = page.beyond === undefined ? null : await checkpointOf(events, tenant, page.beyond);
        let next =
          last === null ? await newestCheckpoint(events, tenant) : await checkpointBefore(events, tenant, last);
        while (next !== null && found.length < limit) {
          found.push(next);
          next = await checkpointBefore(events, tenant, next);
        }
        const orders = found.map(({ revision }) => ({ order: String(revision) }));
        return { headers: nextLink(call, page, orders, next !== null), body: found.map(shown) };
      },
    }),
    route('GET', '/audit/checkpoints/latest', {
      ...common,
      operationId: 'getLatestCheckpoint',
      summary: "The newest checkpoint of the tenant's log; as text/plain the note alone",
      responses: ok('The checkpoint.', Checkpoint),
      handler: async (call) => {
        const found = await requireCheckpoint(events, call.principal.tenant);
        const isPlain = call.koa.accepts('application/json', 'text/plain') === 'text/plain';
        return isPlain ? { raw: { type: NOTE_TYPE, content: found.note } } : { body: shown(found) };
      },
    }),
    route('POST', '/audit/checkpoints', {
      ...common,
      operationId: 'makeCheckpoint',
      summary: 'Make a checkpoint now; where nothing was written since the last one, that one',
      scope: 'ops',
      responses: ok('The checkpoint.', Checkpoint),
      handler: async (call) => {
        const { tenant } = call.principal;
        const made = call.done
          ? await newestCheckpoint(events, tenant)
          : await makeCheckpoint({ runtime, writers, events, clock }, tenant, contextOf(call));
        if (made === null) throw new Rejection('CHECKPOINT_NOT_FOUND');
        return { body: shown(made) };
      },
    }),
    route('GET', '/audit/checkpoints/:size/consistency', {
      ...common,
      operationId: 'proveConsistency',
      summary: 'That a checkpoint extends the log as it was at a smaller size (RFC 9162)',
      params: Type.Object({ size: Type.String({ pattern: TREE_SIZE }) }),
      query: Type.Object({ from: Size }),
      responses: ok('The path.', Type.Object({ from: Size, size: Size, path: Path })),
      handler: async (call) => {
        const { tenant } = call.principal;
        const size = Number(call.params.size);
        const checkpoint = await requireCheckpoint(events, tenant, size);
        const { from } = call.query;
        return { body: { from, size, path: await consistencyPath(events, tenant, checkpoint, from) } };
      },
    }),
    route('GET', '/npcs/:npcId/audit/proof', {
      ...common,
      operationId: 'proveNpc',
      summary: "That a head of an NPC's history is in the log",
      params: NpcParams,
      query: Type.Object({ revision: Type.Optional(Size), size: Type.Optional(Size) }),
      responses: ok(
        'The newest head up to the revision, and its path.',
        Type.Object({ size: Size, leaf: Leaf, index: Size, path: Path, note: Type.String() }),
      ),
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const last = await requireRevision(events, tenant, npcId);
        const { revision = last, size } = call.query;
        const checkpoint =
          size === undefined ? await newestCheckpoint(events, tenant) : await requireCheckpoint(events, tenant, size);
        const proof = checkpoint && (await proveMind(events, { tenant, npcId }, Math.min(revision, last), checkpoint));
        if (proof === null) throw new Rejection('PROOF_NOT_FOUND');
        return { revision: last, body: proof };
      },
    }),
    route('POST', '/audit/verify', {
      ...common,
      operationId: 'audit',
      summary: "Check the tenant's chains, its log, and each head in the log against its stream",
      body: Type.Object({
        npcIds: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: MAX_NPC_IDS })),
        after: nullable(Type.String({ minLength: 1, maxLength: 2_048 })),
      }),
      responses: ok(
        'One part; send `next` as `after` to go on.',
        Type.Object({
          valid: Type.Boolean(),
          streams: Type.Integer(),
          events: Type.Integer(),
          broken: Type.Array(
            Type.Object({
              npcId: Type.Union([Type.String(), Type.Null()], { description: 'null: the log itself' }),
              revision: Type.Integer(),
              reason: Type.String(),
            }),
          ),
          next: Type.Optional(Type.String()),
        }),
      ),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { npcIds, after } = call.body;
        const release = permits.acquire(tenant);
        try {
          const deps = { events, writers, readModels: ports.readModels, signingKeys };
          return {
            body: await auditMinds(deps, tenant, defined({ npcIds: npcIds ?? undefined, after: after ?? undefined })),
          };
        } finally {
          release();
        }
      },
    }),
  ];
};

/** The checkpoint that a cursor names. @throws Rejection SCHEMA_INVALID for another text */
const checkpointOf = async (events: EventStore, tenant: string, order: string): Promise<CheckpointAt> => {
  const revision = /^\d{1,15}$/.test(order) ? Number(order) : -1;
  try {
    return await checkpointAt(events, tenant, revision);
  } catch (error) {
    if (error instanceof Rejection) throw error;
    throw new Rejection('SCHEMA_INVALID', { message: 'The cursor is not one of this list.' });
  }
};

/** How many bundles are made at once, and how many of one tenant: each holds a page of its stream. */
const BUNDLES = 16;
const TENANT_BUNDLES = 8;
const NDJSON_TYPE = 'application/x-ndjson';

const Revision = Type.Integer({ minimum: 0 });

/** `GET /npcs/{npcId}/history/bundle`. */
export const historyBundleRoute = ({ ports, signingKeys }: AuditRouteDeps): RouteDefinition => {
  const { events, clock } = ports;
  const permits = new Semaphore(BUNDLES, TENANT_BUNDLES);
  return route('GET', '/npcs/:npcId/history/bundle', {
    ...common,
    operationId: 'bundleHistory',
    summary: 'A history that anybody can check offline, with the proof that the log holds it',
    params: NpcParams,
    query: Type.Object({
      from: Type.Optional(Revision),
      to: Type.Optional(Revision),
      extends: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Also show that the log extends its checkpoint of this size.' }),
      ),
    }),
    responses: {
      200: { description: 'A header, the events, and the proof.', stream: 'finite', contentType: NDJSON_TYPE },
    },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const last = await requireRevision(events, tenant, npcId);
      const { from = 0, to = last, extends: earlier } = call.query;
      const end = Math.min(to, last);
      if (from > end) {
        throw new Rejection('SCHEMA_INVALID', { message: 'There is no event from "from" to "to".', details: { last } });
      }
      const asked = { tenant, npcId, from, to: end, ...defined({ extends: earlier }) };
      const keys = await signingKeys.publicJwks();
      const madeAt = clock.now().toISOString();
      return {
        revision: last,
        headers: {
          'Content-Disposition': `attachment; filename="${fileName(npcId, 'bundle.ndjson')}"`,
          'X-Content-Type-Options': 'nosniff',
        },
        stream: {
          type: NDJSON_TYPE,
          chunks: async function* () {
            const release = permits.acquire(tenant);
            try {
              yield* bundleOf(events, { ...asked, madeAt, keys });
            } finally {
              release();
            }
          },
        },
      };
    },
  });
};
