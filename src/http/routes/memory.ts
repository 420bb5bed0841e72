import { Type } from '@sinclair/typebox';

import { visibleRange } from '../../app/memory/visible-range.js';
import { waitForStream } from '../../app/read-models/read-wait.js';
import type { Json } from '../../domain/shared/json.js';
import { isStanding, memories, memoriesListed, type MemoryRow, memoryTag } from '../../../projections/memories.js';
import { momentOf } from '../as-of.js';
import { mindStream } from '../command-context.js';
import { answerList } from '../list-answer.js';
import { Item, itemOf, memoryFilters } from '../memory-item.js';
import { minRevision } from '../min-revision.js';
import { pageOf, pageQuery } from '../page.js';
import { type RouteDefinition, route } from '../route.js';
import { NpcParams } from '../schemas.js';
import type { Services } from '../services.js';

/** How the list is filtered. */
const memoryQuery = {
  ...memoryFilters,
  asOf: Type.Optional(
    Type.String({ description: 'As the memories were: after this revision, or at this RFC 3339 timestamp.' }),
  ),
};

/** `GET /npcs/{npcId}/memory` (contract 3.1). */
export const memoryRoutes = ({ ports, lanes }: Services): readonly RouteDefinition[] => [
  route({
    operationId: 'listMemories',
    method: 'GET',
    path: '/npcs/:npcId/memory',
    tag: 'Memory',
    summary: "An NPC's memories, oldest first",
    description:
      'Of an NPC that nobody knows, and of an archived one without `asOf`, the list is empty. Cleared memories are listed only as of a moment before the clear. Retracted ones are, as of a moment before they were. With `minImportance`, and where some were retracted, one answer looks at 20,000 memories at most; `Link` says where to go on.',
    scope: 'memory',
    params: NpcParams,
    query: Type.Object({ ...pageQuery, ...memoryQuery }),
    responses: { 200: { description: 'The memories.', schema: Type.Array(Item), stream: 'finite' } },
    handler: async (call) => {
      const { type, minImportance, asOf } = call.query;
      const page = pageOf(call.query);
      const moment = momentOf(asOf);
      const stream = mindStream(call);
      await waitForStream(ports, memories, stream, minRevision(call));
      // Of the read model, which may be behind: the list shows at least this much.
      const revision = await ports.readModels.progress(memories, stream);
      const range = revision < 0 ? null : await visibleRange({ ...ports, lanes }, stream, moment, revision);
      if (range === null) return { revision, body: [] };
      const { asOf: seenAsOf, someRetracted = false, ...within } = range;
      const keep = (row: Json): boolean => {
        const memory = row as unknown as MemoryRow;
        return memory.importance >= (minImportance ?? 0) && isStanding(memory, seenAsOf);
      };
      const answer = await answerList(call, page, {
        readModels: ports.readModels,
        projection: memories,
        query: {
          partition: memoriesListed(stream),
          direction: 'ascending',
          within,
          ...(type === undefined ? {} : { tags: type.split(',').map(memoryTag) }),
        },
        ...(minImportance === undefined && !someRetracted ? {} : { keep }),
        show: (row) => itemOf(row as unknown as MemoryRow, { similarity: 1, asOf: seenAsOf }),
      });
      return { ...answer, revision: Math.min(revision, seenAsOf ?? revision) };
    },
  }),
];
