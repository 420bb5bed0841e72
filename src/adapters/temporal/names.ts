import type { Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

import type { Shard } from '../../../workflows/temporal/process-batch.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import { parseNpcStream, tenantOf } from '../../kernel/base/stream-names.js';
import type { ProcessRef } from '../../ports/process-runtime.js';
import type { TlsAccess } from '../../ports/server-access.js';
import type { PayloadEncryption } from './payload-codec.js';

/** Where Temporal is, how to connect to it, and the names of this server in it. */
export type TemporalAddress = {
  /** host:port */
  readonly address: string;
  readonly temporalNamespace: string;
  /** ANIMA_NAMESPACE: prefixes workflow ids and names the task queue, so that many can share one Temporal namespace. */
  readonly namespace: string;
  /** Without it the connection is plain. */
  readonly tls?: TlsAccess | null;
  readonly apiKey?: string | null;
  /** Encrypts payloads on the way to the server and decrypts them on the way back. */
  readonly payloads?: PayloadEncryption | null;
};

/** How many characters of a stream's digest a workflow's id contains: 132 bits. */
const STREAM_DIGEST = 22;
/**
 * A workflow task or a sticky queue whose worker was killed is given to another one after this time. A worker that is merely slow must finish well
 * within it: work that times out is done twice, which adds load to an overloaded worker.
 */
export const TASK_TIMEOUT = '5s';
/** How long registering search attributes may take, in milliseconds. */
const REGISTER_TIMEOUT_MS = 5_000;
const GRPC_ALREADY_EXISTS = 6;
/** temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;

/** Workers from before turns shared workflows poll `-processes`: they would run those as if each were one process. */
export const taskQueueOf = (namespace: string): string => `${namespace}-shared`;
/** A process is identified by its stream and its id; the stream is included as a digest, since a name may be longer than Temporal's ids. */
export const workflowIdOf = (namespace: string, { process, id, stream }: ProcessRef): string =>
  `${namespace}/${process}/${sha256Base64url(stream).slice(0, STREAM_DIGEST)}/${id}`;

/** The workflow type of a shard: what runs there. Another number of shards is another set of workflows. */
export const SHARD_TYPE = 'turns';
export const shardIdOf = (namespace: string, { index, count }: Shard): string =>
  `${namespace}/${SHARD_TYPE}/${String(index + 1)}-of-${String(count)}`;

const tenantKey = defineSearchAttributeKey('AnimaTenant', SearchAttributeType.KEYWORD);
const npcKey = defineSearchAttributeKey('AnimaNpcId', SearchAttributeType.KEYWORD);
const processKey = defineSearchAttributeKey('AnimaProcess', SearchAttributeType.KEYWORD);

/** The search attributes of workflows. */
export const searchAttributesOf = ({ process, stream }: ProcessRef) => {
  const tenant = tenantOf(stream);
  const npcId = parseNpcStream(stream)?.npcId;
  return [
    { key: processKey, value: process },
    ...(tenant === null ? [] : [{ key: tenantKey, value: tenant }]),
    ...(npcId === undefined ? [] : [{ key: npcKey, value: npcId }]),
  ];
};

export const shardAttributesOf = ({ processes }: Shard): ReturnType<typeof searchAttributesOf> =>
  processes.map((value) => ({ key: processKey, value })).slice(0, 1);

/**
 * Registers this server's search attributes; a server that lost them with its database refuses to start workflows.
 * @throws Error with instructions, if they cannot be registered from here, as at Temporal Cloud
 */
export const registerSearchAttributes = async (connection: Connection, namespace: string): Promise<void> => {
  const searchAttributes = Object.fromEntries([tenantKey, npcKey, processKey].map(({ name }) => [name, KEYWORD]));
  try {
    await connection.withDeadline(Date.now() + REGISTER_TIMEOUT_MS, () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
  } catch (error) {
    if ((error as { code?: unknown }).code === GRPC_ALREADY_EXISTS) return;
    const names = Object.keys(searchAttributes).join(', ');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The namespace ${namespace} lacks the search attributes ${names} (Keyword): ${reason}`, {
      cause: error,
    });
  }
};
