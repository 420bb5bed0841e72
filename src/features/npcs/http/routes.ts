import { Type } from '@sinclair/typebox';

import { requireMind, requireRevision } from '../find-mind.js';
import { mindFold } from '../mind-fold.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { archiveNpc, npcTag, patchNpc, registerNpc } from '../domain/decide.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import type { MindState } from '../domain/state.js';
import { isObject, type JsonObject } from '../../../kernel/base/json.js';
import { isClientId } from '../../../kernel/base/client-id.js';
import type { Rulesets } from '../../rules/rulesets.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { npcs } from '../../../../projections/npcs.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { answerTenantList } from '../../../kernel/http/list-answer.js';
import { ifMatch } from '../../../kernel/http/if-match.js';
import { readMind } from '../read-mind.js';
import { readJsonText } from '../../../kernel/http/json-text.js';
import { pageQuery } from '../../../kernel/http/page.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, FreeObject, NpcParams, nullable } from '../../../kernel/http/schemas.js';
import { npcExamples as examples } from './examples.js';
import { defined } from '../../../kernel/base/defined.js';

const Npc = named(
  'Npc',
  Type.Object({
    npcId: Type.String(),
    persona: Type.Union([Type.String(), Type.Null()]),
    data: FreeObject,
    revision: Type.Integer({ description: 'The revision of the last event that this includes.' }),
    updatedAt: Type.String({ format: 'date-time' }),
    rulesetId: Type.Optional(Type.String({ description: 'The ruleset that the NPC is bound to; absent if none.' })),
    players: Type.Optional(
      Type.Literal('shared', { description: 'What one player tells is not kept from others; absent if it is.' }),
    ),
    archived: Type.Optional(Type.Literal(true)),
  }),
);
const players = Type.Optional(
  Type.Unsafe<MindState['players'] | null>({
    type: ['string', 'null'],
    enum: ['apart', 'shared', null],
    description: 'Whether what one player tells is kept from others: `apart`, or `shared`.',
  }),
);
const NpcList = named('NpcList', Type.Array(Npc));
const RegisterNpcRequest = named(
  'RegisterNpcRequest',
  Type.Object({
    npcId: nullable(ClientId),
    id: nullable(Type.String({ ...ClientId, description: 'The same as `npcId`, which wins.' })),
    persona: nullable(Type.String({ description: 'Who the NPC is, in prose. It begins every prompt.' })),
    data: nullable(
      Type.Unsafe<JsonObject>({ ...FreeObject, description: 'The state of the NPC, such as hit points.' }),
    ),
    initialState: nullable(Type.Unsafe<JsonObject>({ ...FreeObject, description: 'The same as `data`, which wins.' })),
    rulesetId: nullable(
      Type.String({
        description: 'The registered ruleset to bind the NPC to: no request can choose another one. `""` unbinds it.',
      }),
    ),
    players,
  }),
);
const RegisteredNpc = named(
  'RegisteredNpc',
  Type.Intersect([
    Npc,
    Type.Object({ created: Type.Boolean({ description: 'Whether this request registered the NPC.' }) }),
  ]),
);
const PatchNpcRequest = named(
  'PatchNpcRequest',
  Type.Object({
    persona: nullable(Type.String({ description: 'Null sets it to the empty string.' })),
    data: nullable(
      Type.Unsafe<JsonObject>({
        ...FreeObject,
        description: 'A merge patch of the data: null removes a member. Null itself removes all members.',
      }),
    ),
    rulesetId: nullable(
      Type.String({ description: 'The registered ruleset to bind the NPC to. Null or `""` unbinds it.' }),
    ),
    players,
  }),
);
const ArchivedNpc = named(
  'ArchivedNpc',
  Type.Object({ npcId: Type.String(), archived: Type.Literal(true), revision: Type.Integer() }),
);

type NpcView = Pick<MindState, 'persona' | 'data' | 'archived' | 'rulesetId' | 'players' | 'revision' | 'updatedAt'>;

const view = (npcId: string, mind: NpcView) => ({
  npcId,
  persona: mind.persona,
  data: mind.data ?? {},
  revision: mind.revision,
  updatedAt: mind.updatedAt,
  ...(mind.rulesetId === null ? {} : { rulesetId: mind.rulesetId }),
  ...(mind.players === 'shared' ? { players: mind.players } : {}),
  ...(mind.archived ? { archived: true } : {}),
});

const tagged = (mind: MindState) => ({ ETag: npcTag(mind) });

const issue = (pointer: string, message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer, message }] } });

/** Old clients send their state as JSON text inside an object. */
const dataOf = async (pointer: string, value: JsonObject): Promise<JsonObject> => {
  const keys = Object.keys(value);
  const { jsonData } = value;
  if (keys.length !== 1 || typeof jsonData !== 'string') return value;
  const parsed = await readJsonText(`${pointer}/jsonData`, jsonData);
  if (!isObject(parsed)) throw issue(`${pointer}/jsonData`, 'must be a string that contains a JSON object');
  return parsed;
};

/**
 * The binding that a request asks for: null for `""`, undefined if it leaves the binding as it is.
 * @throws Rejection ID_INVALID, RULESET_UNKNOWN
 */
const bindingOf = async (
  rulesets: NpcRouteDeps['rulesets'],
  tenant: string,
  rulesetId: string | null | undefined,
): Promise<string | null | undefined> => {
  if (rulesetId === '') return null;
  if (rulesetId === undefined || rulesetId === null) return undefined;
  if (!isClientId(rulesetId)) throw new Rejection('ID_INVALID', { details: { member: 'rulesetId' } });
  if ((await rulesets.latest(tenant, rulesetId)) === null)
    throw new Rejection('RULESET_UNKNOWN', { details: { rulesetId } });
  return rulesetId;
};

const common = { tag: 'NPCs', scope: 'npc' } as const;

type NpcRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly rulesets: Pick<Rulesets, 'latest'>;
};

/** `GET|POST /npcs`, `GET|PATCH|DELETE /npcs/{npcId}`. */
export const npcRoutes = ({ ports, writers, rulesets }: NpcRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs', {
    ...common,
    operationId: 'listNpcs',
    summary: 'List NPCs',
    description: 'Archived NPCs are left out.',
    query: Type.Object(pageQuery),
    responses: {
      200: { description: 'The NPCs, ordered by id.', schema: NpcList, example: examples.list, stream: 'finite' },
    },
    handler: (call) =>
      answerTenantList(call, ports.readModels, {
        projection: npcs,
        query: { tags: ['live'], direction: 'ascending' },
        show: (row) => {
          const npc = row as unknown as NpcView & { npcId: string };
          return view(npc.npcId, npc);
        },
      }),
  }),
  route('POST', '/npcs', {
    ...common,
    operationId: 'registerNpc',
    summary: 'Register an NPC, replace its persona or data, or bind it to a ruleset',
    description:
      'Each member that you send replaces the entire old value. A request that changes nothing records nothing. `data` may have up to 262,144 bytes of JSON, `persona` and `data` together up to 524,288.',
    body: RegisterNpcRequest,
    deciding: { decidesBy: ['/rulesetId'] },
    example: examples.register,
    refuses: [
      'CONFLICT',
      'DATA_TOO_LARGE',
      'EVENTS_TOO_LARGE',
      'RULESET_UNKNOWN',
      'MEMBER_MISSPELT',
      'SOUL_ALREADY_LIVE',
    ],
    sends: ['Anima-Revision', 'ETag'],
    responses: ok('The NPC as it is now.', RegisteredNpc, examples.registered),
    writesTo: ({ principal, body }) => {
      const npcId = body.npcId ?? body.id;
      return npcId === undefined || npcId === null ? undefined : npcStream(principal.tenant, npcId);
    },
    handler: async (call) => {
      const { body } = call;
      const npcId = body.npcId ?? body.id;
      if (npcId === undefined || npcId === null) throw issue('/npcId', 'is missing; send npcId or id');
      const data =
        body.data !== undefined && body.data !== null
          ? await dataOf('/data', body.data)
          : body.initialState !== undefined && body.initialState !== null
            ? await dataOf('/initialState', body.initialState)
            : undefined;
      await takeRecordable([body.persona ?? null, data ?? null]);
      const rulesetId = await bindingOf(rulesets, call.principal.tenant, body.rulesetId);
      const outcome = await runCommand(
        { ...ports, writers },
        npcStream(call.principal.tenant, npcId),
        mindFold,
        contextOf(call),
        (mind) =>
          registerNpc(mind, {
            ...(typeof body.persona === 'string' ? { persona: body.persona } : {}),
            ...defined({ data, rulesetId, players: body.players ?? undefined }),
          }),
      );
      const created = outcome.events.some(({ type }) => type === 'NpcRegistered');
      const { revision, position } = outcome;
      return { revision, position, headers: tagged(outcome.state), body: { ...view(npcId, outcome.state), created } };
    },
  }),
  route('GET', '/npcs/:npcId', {
    ...common,
    operationId: 'getNpc',
    summary: 'Get an NPC',
    params: NpcParams,
    refuses: ['NPC_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision', 'ETag'],
    responses: ok('The NPC, including every write that was acknowledged.', Npc, examples.npc),
    handler: async (call) => {
      const { tenant, npcId } = await readMind(ports.events, call);
      const mind = await requireMind(writers, tenant, npcId);
      return { revision: mind.revision, headers: tagged(mind), body: view(npcId, mind) };
    },
  }),
  route('PATCH', '/npcs/:npcId', {
    ...common,
    operationId: 'patchNpc',
    summary: 'Change the persona, parts of the data, or the binding of an NPC',
    description:
      'The body is a JSON merge patch (RFC 7396), as `application/json` or `application/merge-patch+json`. A request that changes nothing records nothing. `If-Match` makes the change only if nobody else has changed persona, data or binding since; with an `Idempotency-Key`, such a request can be repeated after a lost response. The limits are those of `POST /npcs`, for the data that results.',
    ext: true,
    params: NpcParams,
    body: PatchNpcRequest,
    writesTo: mindStream,
    deciding: { decidesBy: ['/rulesetId'] },
    example: examples.patch,
    refuses: ['NPC_NOT_FOUND', 'CONFLICT', 'DATA_TOO_LARGE', 'EVENTS_TOO_LARGE', 'RULESET_UNKNOWN', 'MEMBER_MISSPELT'],
    reads: ['If-Match'],
    sends: ['Anima-Revision', 'ETag'],
    responses: ok('The NPC as it is now.', Npc, examples.patched),
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const { persona, data, rulesetId: named, players: told } = call.body;
      const expected = ifMatch(call);
      await requireRevision(ports.events, tenant, npcId);
      await takeRecordable([persona ?? null, data ?? null]);
      const rulesetId = named === null ? null : await bindingOf(rulesets, tenant, named);
      const { state, revision, position } = await runCommand(
        { ...ports, writers },
        npcStream(tenant, npcId),
        mindFold,
        contextOf(call),
        (mind) => patchNpc(mind, defined({ persona, data, rulesetId, players: told }), expected),
      );
      return { revision, position, headers: tagged(state), body: view(npcId, state) };
    },
  }),
  route('DELETE', '/npcs/:npcId', {
    ...common,
    operationId: 'archiveNpc',
    summary: 'Archive an NPC',
    description:
      'The NPC disappears from lists, and its history is kept. The next time that it acts, it is no longer archived.',
    ext: true,
    params: NpcParams,
    refuses: ['NPC_NOT_FOUND', 'CONFLICT'],
    sends: ['Anima-Revision'],
    responses: ok('The NPC is archived.', ArchivedNpc, examples.archived),
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      await requireRevision(ports.events, tenant, npcId);
      const { revision, position } = await runCommand(
        { ...ports, writers },
        npcStream(tenant, npcId),
        mindFold,
        contextOf(call),
        archiveNpc,
      );
      return { revision, position, body: { npcId, archived: true, revision } };
    },
  }),
];
