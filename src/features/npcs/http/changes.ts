import { Type } from '@sinclair/typebox';

import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { momentOf } from '../../../kernel/http/as-of.js';
import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { AnyJson, NpcParams } from '../../../kernel/http/schemas.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { Ports } from '../../../ports/ports.js';
import { openTurnsOf } from '../domain/open-turns.js';
import type { MindState } from '../domain/state.js';
import { stateChanges } from '../domain/state-changes.js';
import { mindAsOf, requireMind } from '../find-mind.js';
import { readMind } from '../read-mind.js';
import { historyExamples as examples } from './examples.js';

/** Comparing pauses after this many members: less than a millisecond of work. */
const PAUSE_MEMBERS = 1_000;

const ComparedState = Type.Object({ revision: Type.Integer(), at: Type.String({ format: 'date-time' }) });
export const NpcChanges = named(
  'NpcChanges',
  Type.Object({
    npcId: Type.String(),
    from: ComparedState,
    to: ComparedState,
    changes: Type.Array(
      Type.Object({
        path: Type.String({ description: 'A JSON Pointer into the state, such as `/data/relationships/ann`.' }),
        before: Type.Optional(AnyJson),
        after: Type.Optional(AnyJson),
      }),
      { description: '`before` or `after` is absent where there was no value.' },
    ),
  }),
);

/** What `GET /npcs/{npcId}/state` shows of a mind. */
const shownOf = ({ persona, data, facts, openTurns }: MindState): JsonObject => ({
  persona,
  data: data ?? {},
  facts: facts ?? {},
  openTurns: openTurnsOf(openTurns),
});

type ChangesRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters };

/** `GET /npcs/{npcId}/changes`. */
export const changesRoute = ({ ports, writers }: ChangesRouteDeps): RouteDefinition =>
  route('GET', '/npcs/:npcId/changes', {
    operationId: 'npcChanges',
    tag: 'Histories',
    summary: 'Compare an NPC at two moments',
    description: 'Lists what differs between the states that `GET /npcs/{npcId}/state` returns for them.',
    scope: 'audit',
    ext: true,
    params: NpcParams,
    query: Type.Object({
      from: Type.String({ description: 'A revision or an RFC 3339 timestamp.', examples: ['4'] }),
      to: Type.Optional(Type.String({ description: 'A revision or an RFC 3339 timestamp; now by default.' })),
    }),
    refuses: ['NPC_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: ok('The differences.', NpcChanges, examples.changes),
    handler: async (call) => {
      const [from, to] = [momentOf(call.query.from, 'from'), momentOf(call.query.to, 'to')];
      const { tenant, npcId } = await readMind(ports.events, call);
      const mindAt = async (moment: typeof from): Promise<MindState> => {
        const mind =
          moment === 'now' ? await requireMind(writers, tenant, npcId) : await mindAsOf(writers, tenant, npcId, moment);
        if (mind !== null) return mind;
        throw new Rejection('NPC_NOT_FOUND', {
          message: 'The NPC did not exist at that time.',
          details: { npcId },
        });
      };
      const [before, after] = [await mindAt(from), await mindAt(to)];
      if (after.revision < before.revision)
        throw new Rejection('SCHEMA_INVALID', {
          details: { issues: [{ pointer: '/to', message: 'must not be before from' }] },
        });
      const pace = { every: PAUSE_MEMBERS, unpaused: 0 };
      const changes = await inSlices(stateChanges(shownOf(before), shownOf(after)), pace);
      const shown = ({ revision, updatedAt }: MindState) => ({ revision, at: updatedAt });
      return { revision: after.revision, body: { npcId, from: shown(before), to: shown(after), changes } };
    },
  });
