import { type Static, Type } from '@sinclair/typebox';

import type { Recall } from '../recall.js';
import { mindFold } from '../../npcs/mind-fold.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { QUERY_BYTES } from '../../npcs/domain/recorded-bytes.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import { defined } from '../../../kernel/base/defined.js';
import { type Json, jsonBytes } from '../../../kernel/base/json.js';
import { PAGE_BYTES, untilFull } from '../../../kernel/base/page-size.js';
import type { Ports } from '../../../ports/ports.js';
import { memories } from '../../../../projections/memories.js';
import { momentOf } from '../../../kernel/http/as-of.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import {
  type Answer,
  type Call,
  contextOf,
  mindStream,
  ok,
  route,
  type RouteDefinition,
} from '../../../kernel/http/route.js';
import { agentMemoryOf, itemOf, reportedItem } from '../memory-item.js';
import { AgentMemory, Item, memoryFilters } from './schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { AgentParams, MAX_BYTES, NpcParams } from '../../../kernel/http/schemas.js';
import { memoriesOf, MemoriesSchema } from '../../turns/body-schemas.js';

/** The maximum and the default number of memories of one recall. */
const MAX_LIMIT = 100;
const LIMIT = 10;
const AGENT_LIMIT = 5;
/** The default minimum score of an agent's recall: related texts reach it. */
const AGENT_SCORE = 0.5;

const query = Type.String({
  [MAX_BYTES]: QUERY_BYTES,
  description: `What is to be remembered; at most ${String(QUERY_BYTES)} bytes of UTF-8.`,
});
const limit = (usual: number) => Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: usual }));
const score = (usual: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: usual, description }));

const RecallBody = Type.Object({
  query,
  similarity: score(0, 'Only memories that are at least so similar.'),
  threshold: score(0, 'The same, by the name that `QueryVector` has for it; `similarity` wins.'),
  limit: limit(LIMIT),
  ...memoryFilters,
  asOf: Type.Optional(
    Type.Unsafe<string | number>({
      type: ['string', 'integer'],
      minimum: 0,
      description: 'As the memories were: after this revision, or at this RFC 3339 timestamp.',
    }),
  ),
  memories: Type.Optional(MemoriesSchema),
});
const Parts = Type.Record(Type.String(), Type.Number(), {
  description: 'What `similarity` was made from: `meaning` and `words`, 0 to 1.',
});

/** The best memories, until they fill a page: even a hundred of the longest ones make no longer answer. */
const pageOf = <Shown>(memories: readonly Shown[]): readonly Shown[] => [
  ...untilFull(memories, (memory) => jsonBytes(memory as Json), PAGE_BYTES),
];

/** Says how many memories take part by their words alone. */
const pendingHeader = (pending: number): Record<string, string> =>
  pending === 0 ? {} : { 'Anima-Embedding-Pending': String(pending) };

type RecallCall = Call<Static<typeof NpcParams>, unknown, Static<typeof RecallBody>>;

type RecallRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters; readonly recall: Recall };

/** `POST /npcs/{npcId}/memory/recall` and `POST /v1/agents/{agentId}/memory/recall`. */
export const recallRoutes = ({ ports, writers, recall }: RecallRouteDeps): readonly RouteDefinition[] => {
  /** The revision that the request asks for; null when the mind had no event by then. */
  const revisionAsOf = async (
    stream: string,
    asOf: string | number | undefined,
  ): Promise<number | null | undefined> => {
    const moment = momentOf(asOf === undefined ? undefined : String(asOf));
    if (moment === 'now') return undefined;
    if ('revision' in moment) return moment.revision;
    const { revision } = await writers.asOf(stream, mindFold, moment);
    return revision < 0 ? null : revision;
  };

  const report = async (call: RecallCall, brought: NonNullable<Static<typeof MemoriesSchema>>): Promise<Answer> => {
    const { query: asked, threshold, similarity = threshold, limit: most, type, minImportance } = call.body;
    const data = {
      query: asked,
      ...defined({ similarity, limit: most, type, minImportance }),
      memories: memoriesOf(brought),
    };
    await takeRecordable(data);
    const { events, revision, position } = await runCommand(
      { ...ports, writers },
      mindStream(call),
      mindFold,
      contextOf(call),
      () => [{ type: 'RecallReported', data }],
    );
    const [reported] = events;
    if (reported === undefined) throw new Error('A recall was reported without an event.');
    return { revision, position, body: data.memories.map((memory, at) => reportedItem(memory, reported, at)) };
  };

  return [
    route('POST', '/npcs/:npcId/memory/recall', {
      operationId: 'recallMemories',
      tag: 'Memory',
      summary: 'What an NPC remembers of something, best first',
      description:
        'Memories are compared by meaning; those that have no vector yet take part by their words, and `Anima-Embedding-Pending` says how many they are. With `memories` nothing is recalled: they are what the client has recalled itself, and are recorded and returned.',
      scope: 'memory',
      params: NpcParams,
      // A recall changes nothing; a report does.
      retention: (call) => (call.body.memories === undefined ? 'never' : 'within-budget'),
      writesTo: (call) => (call.body.memories === undefined ? undefined : mindStream(call)),
      body: RecallBody,
      responses: ok(
        'The memories.',
        Type.Array(Type.Intersect([Item, Type.Object({ scoreParts: Type.Optional(Parts) })])),
      ),
      handler: async (call) => {
        const { query: asked, limit: most = LIMIT, type, minImportance, memories: brought } = call.body;
        const { similarity = call.body.threshold ?? 0 } = call.body;
        if (brought !== undefined) return report(call, brought);
        const { tenant } = call.principal;
        const { npcId } = call.params;
        const stream = mindStream(call);
        const minimum = minRevision(call);
        const asOf = await revisionAsOf(stream, call.body.asOf);
        if (asOf === null) {
          if (minimum !== undefined) await waitForStream(ports, memories, stream, minimum);
          return { body: [] };
        }
        const found = await recall(
          {
            tenant,
            npcId,
            query: asked,
            limit: most,
            minScore: similarity,
            ...defined({ types: type?.split(','), minImportance, asOf, minRevision: minimum }),
          },
          clientSignal(call),
        );
        return {
          revision: Math.min(found.revision, asOf ?? found.revision),
          headers: pendingHeader(found.pending),
          body: pageOf(
            found.memories.map(({ row, score: likeness, scoreParts }) => ({
              ...itemOf(row, { similarity: likeness, asOf }),
              scoreParts,
            })),
          ),
        };
      },
    }),
    route('POST', '/v1/agents/:agentId/memory/recall', {
      operationId: 'recallAgentMemories',
      tag: 'Memory',
      summary: 'What an agent remembers of something, best first',
      description:
        'Related memories score 0.5 or more, unrelated ones less. `Anima-Embedding-Pending` says how many memories take part by their words alone.',
      scope: 'memory',
      retention: 'never',
      params: AgentParams,
      body: Type.Object({
        query,
        limit: limit(AGENT_LIMIT),
        minScore: score(AGENT_SCORE, 'Only memories that score at least this.'),
      }),
      responses: ok(
        'The memories.',
        Type.Array(Type.Intersect([AgentMemory, Type.Object({ score: Type.Number({ minimum: 0, maximum: 1 }) })])),
      ),
      handler: async (call) => {
        const { query: asked, limit: most = AGENT_LIMIT, minScore = AGENT_SCORE } = call.body;
        const { tenant } = call.principal;
        const { agentId } = call.params;
        const found = await recall(
          {
            tenant,
            npcId: agentId,
            query: asked,
            limit: most,
            minScore,
            ...defined({ minRevision: minRevision(call) }),
          },
          clientSignal(call),
        );
        return {
          revision: found.revision,
          headers: pendingHeader(found.pending),
          body: pageOf(found.memories.map(({ row, score: value }) => ({ ...agentMemoryOf(row), score: value }))),
        };
      },
    }),
  ];
};
