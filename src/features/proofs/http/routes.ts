import { Type } from '@sinclair/typebox';

import { bundleOf, consistencyPath, proveMind, requireCheckpoint } from '../bundle.js';
import { type CheckpointAt, checkpointAt, checkpointBefore, newestCheckpoint } from '../log.js';
import { makeCheckpoint } from '../make-checkpoint.js';
import { createNews } from '../news.js';
import { logStatus } from '../log-status.js';
import { restartLog } from '../restart-log.js';
import { type AuditDeps, auditTenant } from '../audit-tenant.js';
import { proofExamples as examples } from './examples.js';
import {
  AuditRequest,
  AuditResult,
  CheckpointSchema,
  CheckpointList,
  ConsistencyProof,
  InclusionProof,
  RestartedLogSchema,
  RestartLogRequest,
} from './schemas.js';
import { requireRevision } from '../../npcs/find-mind.js';
import type { EventChecks } from '../../../kernel/streams/event-checks.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { CheckpointReceiver } from '../../../ports/checkpoint-receiver.js';
import type { EventStore } from '../../../ports/event-store.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import { contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { fileName } from '../../../kernel/http/file-name.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { NpcParams } from '../../../kernel/http/schemas.js';
import { TREE_SIZE } from '../../../kernel/http/patterns.js';

/** The maximum number of audits that one process runs at a time, in total and of one tenant: each reads many events. */
const AUDITS = 4;
const TENANT_AUDITS = 1;
/** The maximum number of requests for a checkpoint at a time: each may read events of all tenants. */
const ROUNDS = 16;
const TENANT_ROUNDS = 8;
const NOTE_TYPE = 'text/plain; charset=utf-8';

const shown = ({ size, root, at, clock, kid, note, leaves }: CheckpointAt) => ({
  ...{ size, root, at, ...defined({ clock }), kid, note, leaves },
});

const common = { tag: 'Proofs', scope: 'audit', ext: true } as const;

type AuditRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly runtime: ProcessRuntime;
  readonly checks: EventChecks;
  readonly upgradeEnd: AuditDeps['upgradeEnd'];
  readonly signingKeys: SigningKeys;
  readonly publicUrl: string;
  readonly checkpointReceiver: CheckpointReceiver | null;
};

/** The routes of the log, except bundles. */
export const auditRoutes = (services: AuditRouteDeps): readonly RouteDefinition[] => {
  const { ports, writers, runtime, checks, upgradeEnd, signingKeys, checkpointReceiver, publicUrl: issuer } = services;
  const { events, clock } = ports;
  const permits = new Semaphore(AUDITS, TENANT_AUDITS);
  const rounds = new Semaphore(ROUNDS, TENANT_ROUNDS);
  const making = { runtime, writers, events, clock, checks, news: createNews(events), checkpointReceiver, issuer };
  return [
    route('GET', '/audit/checkpoints', {
      ...common,
      operationId: 'listCheckpoints',
      summary: 'List the checkpoints of the log',
      description: 'Newest first.',
      query: Type.Object(pageQuery),
      responses: ok('The checkpoints.', CheckpointList, examples.list),
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
      summary: 'Get the newest checkpoint of the log',
      description: 'With `Accept: text/plain` the response is the signed note alone.',
      refuses: ['CHECKPOINT_NOT_FOUND'],
      responses: {
        200: {
          description: 'The checkpoint.',
          schema: CheckpointSchema,
          example: examples.checkpoint,
          orType: 'text/plain',
        },
      },
      handler: async (call) => {
        const found = await requireCheckpoint(events, call.principal.tenant);
        const isPlain = call.koa.accepts('application/json', 'text/plain') === 'text/plain';
        return isPlain
          ? { raw: { type: NOTE_TYPE, content: found.note } }
          : { body: { ...shown(found), handedOn: (await logStatus(events, call.principal.tenant))?.handedOn ?? null } };
      },
    }),
    route('POST', '/audit/checkpoints', {
      ...common,
      operationId: 'makeCheckpoint',
      summary: 'Make a checkpoint',
      description: 'If nothing was written since the last checkpoint, the last one is returned.',
      scope: 'ops',
      refuses: ['CHECKPOINT_NOT_FOUND', 'CONFLICT', 'LOG_BEHIND', 'LOG_CHANGED', 'CHAIN_BROKEN'],
      responses: ok('The checkpoint.', CheckpointSchema, examples.checkpoint),
      handler: async (call) => {
        const { tenant } = call.principal;
        const release = rounds.acquire(tenant);
        try {
          const made = call.done
            ? await newestCheckpoint(events, tenant)
            : await makeCheckpoint(making, tenant, contextOf(call));
          if (made === null) throw new Rejection('CHECKPOINT_NOT_FOUND');
          return { body: { ...shown(made), handedOn: (await logStatus(events, tenant))?.handedOn ?? null } };
        } finally {
          release();
        }
      },
    }),
    route('POST', '/audit/log/restart', {
      ...common,
      operationId: 'restartLog',
      summary: 'Restart the log under a new name',
      description:
        'For a store that has lost a part of its log. The next checkpoint is signed under the new name; its first new leaf is the head of the old log. Holders of checkpoints of the old log must be told why.',
      scope: 'ops',
      body: RestartLogRequest,
      example: examples.restart,
      refuses: ['CONFLICT', 'CHAIN_BROKEN'],
      responses: ok('The log under its new name.', RestartedLogSchema, examples.restarted),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { reason } = call.body;
        const { origin, size, position } = await restartLog(making, tenant, reason, contextOf(call));
        return { body: { origin, size }, position };
      },
    }),
    route('GET', '/audit/checkpoints/:size/consistency', {
      ...common,
      operationId: 'proveConsistency',
      summary: 'Prove that a checkpoint extends an earlier one (RFC 9162)',
      params: Type.Object({
        size: Type.String({ pattern: TREE_SIZE, description: 'The size of the checkpoint.', examples: ['2'] }),
      }),
      query: Type.Object({
        from: Type.Integer({ minimum: 0, description: 'The size of the earlier checkpoint.', examples: [1] }),
      }),
      refuses: ['CHECKPOINT_NOT_FOUND', 'PROOF_NOT_FOUND'],
      responses: ok('The proof.', ConsistencyProof, examples.consistency),
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
      summary: "Prove that an NPC's history is in the log",
      params: NpcParams,
      query: Type.Object({
        revision: Type.Optional(
          Type.Integer({ minimum: 0, description: 'Up to which revision; the last one by default.' }),
        ),
        size: Type.Optional(
          Type.Integer({ minimum: 0, description: 'The size of the checkpoint; the newest by default.' }),
        ),
      }),
      refuses: ['NPC_NOT_FOUND', 'CHECKPOINT_NOT_FOUND', 'PROOF_NOT_FOUND'],
      sends: ['Anima-Revision'],
      responses: ok('The newest leaf up to the revision, and its path.', InclusionProof, examples.inclusion),
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
      summary: 'Verify histories against the log',
      description: 'Checks the hash chains, the log, and each leaf of the log against its history.',
      body: AuditRequest,
      example: examples.audit,
      refuses: ['BUSY'],
      responses: ok('One part; send `next` as `after` to continue.', AuditResult, examples.audited),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { npcIds, after } = call.body;
        const release = permits.acquire(tenant);
        try {
          const deps = { events, writers, readModels: ports.readModels, checks, upgradeEnd, signingKeys };
          return {
            body: await auditTenant(deps, tenant, defined({ npcIds: npcIds ?? undefined, after: after ?? undefined })),
          };
        } finally {
          release();
        }
      },
    }),
  ];
};

/** The checkpoint that a cursor names. @throws Rejection SCHEMA_INVALID for any other text */
const checkpointOf = async (events: EventStore, tenant: string, order: string): Promise<CheckpointAt> => {
  const revision = /^\d{1,15}$/.test(order) ? Number(order) : -1;
  try {
    return await checkpointAt(events, tenant, revision);
  } catch (error) {
    if (error instanceof Rejection) throw error;
    throw new Rejection('SCHEMA_INVALID', { message: 'The cursor does not belong to this list.' });
  }
};

/** The maximum number of bundles made at a time, in total and of one tenant: each holds a page of its stream. */
const BUNDLES = 16;
const TENANT_BUNDLES = 8;
const NDJSON_TYPE = 'application/x-ndjson';

/** `GET /npcs/{npcId}/history/bundle`. */
export const historyBundleRoute = ({ ports, signingKeys }: AuditRouteDeps): RouteDefinition => {
  const { events, clock } = ports;
  const permits = new Semaphore(BUNDLES, TENANT_BUNDLES);
  return route('GET', '/npcs/:npcId/history/bundle', {
    ...common,
    operationId: 'bundleHistory',
    summary: 'Export a history with its proof',
    description: 'Anyone can verify the bundle offline.',
    params: NpcParams,
    query: Type.Object({
      from: Type.Optional(Type.Integer({ minimum: 0, description: 'The first revision, inclusive.' })),
      to: Type.Optional(Type.Integer({ minimum: 0, description: 'The last revision, inclusive.' })),
      extends: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Also prove that the log extends its checkpoint of this size.' }),
      ),
    }),
    refuses: ['NPC_NOT_FOUND', 'PROOF_NOT_FOUND', 'CHECKPOINT_NOT_FOUND'],
    sends: ['Anima-Revision', 'Content-Disposition'],
    responses: {
      200: {
        description: 'A header, the events and the proof, one line each.',
        stream: 'finite',
        contentType: NDJSON_TYPE,
      },
    },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const last = await requireRevision(events, tenant, npcId);
      const { from = 0, to = last, extends: earlier } = call.query;
      const end = Math.min(to, last);
      if (from > end) {
        throw new Rejection('SCHEMA_INVALID', {
          message: 'There are no events from "from" to "to".',
          details: { last },
        });
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
