import { type Static, Type } from '@sinclair/typebox';

import type { Recall, Recalled } from '../recall.js';
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
import { recallExamples as examples } from './examples.js';
import { AgentMemory, memoryFilters, MemoryItem } from '../body-schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { AgentParams, MAX_BYTES, NpcParams } from '../../../kernel/http/schemas.js';
import { memoriesOf, MemoriesSchema, PlayerSchema } from '../../turns/body-schemas.js';
import { speakerOf } from '../../turns/speaker-of.js';
import { toldApart } from '../../npcs/domain/told-apart.js';

/** The most memories of one recall, and the defaults. */
const MAX_LIMIT = 100;
const LIMIT = 10;
const AGENT_LIMIT = 5;
/** The default lowest score of an agent's recall: related texts reach it. */
const AGENT_SCORE = 0.5;

const query = Type.String({
  [MAX_BYTES]: QUERY_BYTES,
  description: `What to remember, in at most ${String(QUERY_BYTES)} bytes of UTF-8.`,
});
const limit = (usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: usual, description: 'The maximum number of memories.' }),
  );
const score = (usual: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: usual, description }));

const RecallBody = named(
  'RecallMemoriesRequest',
  Type.Object({
    query,
    similarity: score(0, 'Only memories with at least this similarity.'),
    threshold: score(0, 'The same as `similarity`, by its name in `QueryVector`; `similarity` wins.'),
    limit: limit(LIMIT),
    ...memoryFilters,
    asOf: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'integer'],
        minimum: 0,
        description: 'The memories as they were after this revision, or at this RFC 3339 timestamp.',
      }),
    ),
    player: PlayerSchema,
    memories: Type.Optional({
      ...MemoriesSchema,
      description:
        'What the client has recalled itself. It is recorded and returned, and the server does not recall anything.',
    }),
  }),
);
const Parts = Type.Record(Type.String(), Type.Number(), {
  description: 'The parts of `similarity`: `meaning` and `words`, each from 0 to 1.',
});
const RecalledMemoryItem = named(
  'RecalledMemoryItem',
  Type.Intersect([MemoryItem, Type.Object({ scoreParts: Type.Optional(Parts) })]),
);
const RecalledMemoryList = named('RecalledMemoryList', Type.Array(RecalledMemoryItem));
const RecallAgentMemoriesRequest = named(
  'RecallAgentMemoriesRequest',
  Type.Object({
    query,
    limit: limit(AGENT_LIMIT),
    minScore: score(AGENT_SCORE, 'Only memories with at least this score.'),
    player: PlayerSchema,
  }),
);
const RecalledAgentMemory = named(
  'RecalledAgentMemory',
  Type.Intersect([AgentMemory, Type.Object({ score: Type.Number({ minimum: 0, maximum: 1 }) })]),
);
const RecalledAgentMemoryList = named('RecalledAgentMemoryList', Type.Array(RecalledAgentMemory));

/** The best memories, until they fill a page: even a hundred of the longest ones make no longer answer. */
const pageOf = <Shown>(memories: readonly Shown[]): readonly Shown[] => [
  ...untilFull(memories, (memory) => jsonBytes(memory as Json), PAGE_BYTES),
];

/** Says what compared the memories, and what took part by its words alone. */
const basisHeaders = ({
  embedder,
  pending,
  byWords,
}: Pick<Recalled, 'embedder' | 'pending' | 'byWords'>): Record<string, string> => ({
  'Anima-Embedder': embedder,
  ...(pending === 0 ? {} : { 'Anima-Embedding-Pending': String(pending) }),
  ...(byWords === null ? {} : { 'Anima-Compared-By-Words': byWords }),
});

type RecallCall = Call<Static<typeof NpcParams>, unknown, Static<typeof RecallBody>>;

/** The player for whom a recall is. */
const listenerOf = (call: Parameters<typeof speakerOf>[0]): string | undefined => toldApart(speakerOf(call));

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
      summary: 'Recall memories of an NPC',
      description:
        'Best first. Memories are compared by meaning. Those without a vector yet are compared by their words, and `Anima-Embedding-Pending` gives their number.',
      scope: 'memory',
      params: NpcParams,
      // A recall changes nothing; a report does.
      retention: (call) => (call.body.memories === undefined ? 'never' : 'within-budget'),
      writesTo: (call) => (call.body.memories === undefined ? undefined : mindStream(call)),
      body: RecallBody,
      example: examples.recall,
      refuses: ['CONFLICT', 'EVENTS_TOO_LARGE'],
      reads: ['Anima-Min-Revision', PLAYER_HEADER],
      sends: ['Anima-Compared-By-Words', 'Anima-Embedder', 'Anima-Embedding-Pending', 'Anima-Revision'],
      responses: ok('The memories.', RecalledMemoryList, examples.recalled),
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
            ...defined({
              types: type?.split(','),
              minImportance,
              asOf,
              minRevision: minimum,
              player: listenerOf(call),
            }),
          },
          clientSignal(call),
        );
        return {
          revision: Math.min(found.revision, asOf ?? found.revision),
          headers: basisHeaders(found),
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
      summary: 'Recall memories of an NPC, for agents',
      description:
        'Best first. Related memories score 0.5 or more, unrelated ones less. `Anima-Embedding-Pending` gives the number of memories that are compared only by their words.',
      scope: 'memory',
      retention: 'never',
      params: AgentParams,
      body: RecallAgentMemoriesRequest,
      example: examples.recallOfAgent,
      reads: ['Anima-Min-Revision', PLAYER_HEADER],
      sends: ['Anima-Compared-By-Words', 'Anima-Embedder', 'Anima-Embedding-Pending', 'Anima-Revision'],
      responses: ok('The memories.', RecalledAgentMemoryList, examples.recalledOfAgent),
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
            ...defined({ minRevision: minRevision(call), player: listenerOf(call) }),
          },
          clientSignal(call),
        );
        return {
          revision: found.revision,
          headers: basisHeaders(found),
          body: pageOf(found.memories.map(({ row, score: value }) => ({ ...agentMemoryOf(row), score: value }))),
        };
      },
    }),
  ];
};
