import { Type } from '@sinclair/typebox';

import { requireMind } from '../../npcs/find-mind.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { type PlayerRow, players } from '../../../../projections/players.js';
import { answerList } from '../../../kernel/http/list-answer.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { named } from '../../../kernel/http/named.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { route, type RouteDefinition } from '../../../kernel/http/route.js';
import { AnyJson, NpcParams } from '../../../kernel/http/schemas.js';
import { SpeakerSchema } from '../body-schemas.js';
import { turnExamples as examples } from './turn-examples.js';

const KnownPlayerList = named(
  'KnownPlayerList',
  Type.Array(
    named(
      'KnownPlayer',
      Type.Object({
        ...SpeakerSchema.properties,
        since: Type.String({ description: 'When the NPC first heard from the player (RFC 3339).' }),
        lastAt: Type.String({ description: 'When it last did.' }),
        turns: Type.Integer({ description: 'How many turns the player opened.' }),
        standing: Type.Unsafe<Json>({
          ...AnyJson,
          description: "The member of the NPC's `relationships` with the player's id; null if there is none.",
        }),
      }),
    ),
  ),
);

/** What the data of a mind has about a player. */
const standingIn = (data: JsonObject | null, playerId: string): Json => {
  const relationships = data?.['relationships'];
  return relationships !== undefined && isObject(relationships) && Object.hasOwn(relationships, playerId)
    ? (relationships[playerId] ?? null)
    : null;
};

type PlayerRouteDeps = { readonly ports: Pick<Ports, 'events' | 'readModels'>; readonly writers: StreamWriters };

/** `GET /npcs/{npcId}/players`: whom a mind knows. */
export const playersRoute = ({ ports, writers }: PlayerRouteDeps): RouteDefinition =>
  route('GET', '/npcs/:npcId/players', {
    tag: 'NPCs',
    scope: 'npc',
    ext: true,
    operationId: 'listPlayers',
    summary: 'List the players whom an NPC knows',
    description: 'Who spoke with the NPC or told it a memory, newest first.',
    params: NpcParams,
    query: Type.Object(pageQuery),
    refuses: ['NPC_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: {
      200: { description: 'The players.', schema: KnownPlayerList, example: examples.players, stream: 'finite' },
    },
    handler: async (call) => {
      const page = pageOf(call.query);
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const { data, revision } = await requireMind(writers, tenant, npcId);
      const stream = npcStream(tenant, npcId);
      await waitForStream(ports, players, stream, minRevision(call));
      const answer = await answerList(call, page, {
        readModels: ports.readModels,
        projection: players,
        query: { partition: stream, direction: 'descending' },
        show: (row) => {
          const { stream: _stream, revision: _revision, ...player } = row as PlayerRow;
          return { ...player, standing: standingIn(data, player.id) };
        },
      });
      return { ...answer, revision };
    },
  });
