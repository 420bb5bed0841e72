import { type Static, Type } from '@sinclair/typebox';

import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { requireRevision } from '../../npcs/find-mind.js';
import type { Rulesets } from '../../rules/rulesets.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { cancelReplay, findReplay, runReplay } from '../run-replay.js';
import { requireReplayRoom } from '../replay-room.js';
import type { ReplayPlan } from '../domain/events.js';
import { requireInputBytes } from '../../../kernel/base/input-bytes.js';
import { normaliseRuleset } from '../../rules/domain/normalise.js';
import { findPreset } from '../../rules/domain/presets/presets.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { type Call, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import { timeOf } from '../../../kernel/http/history-query.js';
import { replayExamples as examples } from './examples.js';
import { shownReplay, ShownReplay } from './shown-results.js';
import { requireKnownMembers } from '../../../kernel/http/guard/known-members.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, NpcParams, nullable, pathId } from '../../../kernel/http/schemas.js';
import { RulesBody } from '../../rules/body-schemas.js';

/** How many NPCs one replay may name, and how many texts it may contain. */
const MOST_NPCS = 1_000;
const MOST_OUTPUTS = 1_000;
/** The longest text that it may contain, in characters: a turn accepts no more. */
const TEXT_CHARS = 524_288;
/** The id of rules that are sent without one. */
const UNNAMED_RULES = 'trial';
/** Of rules that were never registered; versions count from 1. */
const UNREGISTERED_VERSION = 0;

const trial = {
  rulesetId: nullable(Type.String({ ...ClientId, description: 'Try the latest version of this registered set.' })),
  rules: Type.Optional(
    Type.Unsafe<Static<typeof RulesBody> | null>({
      ...RulesBody,
      type: ['object', 'null'],
      description: 'Try these rules, as for `POST /rules`. They are not registered.',
    }),
  ),
  instead: nullable(
    Type.String({ ...ClientId, description: 'Only decisions made under this set; all decisions by default.' }),
  ),
  outputs: nullable(
    Type.Array(
      named(
        'ReplacedOutput',
        Type.Object({
          npcId: nullable(ClientId),
          turnId: Type.String({ minLength: 1, maxLength: 256 }),
          generatedOutput: Type.String({ maxLength: TEXT_CHARS }),
        }),
      ),
      { maxItems: MOST_OUTPUTS, description: 'Texts of a model that replace the recorded ones.' },
    ),
  ),
};
const Revision = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const OfMind = named(
  'ReplayNpcRequest',
  Type.Object({
    ...trial,
    fromRevision: nullable(Revision),
    toRevision: nullable(Revision),
    turnId: nullable(Type.String({ minLength: 1, maxLength: 256, description: 'Only the decisions of this turn.' })),
  }),
);
const OfMinds = named(
  'ReplayNpcsRequest',
  Type.Object({
    ...trial,
    npcIds: nullable(
      Type.Array(ClientId, { minItems: 1, maxItems: MOST_NPCS, description: 'Only these NPCs; all by default.' }),
    ),
    since: nullable(Type.String({ description: 'Only decisions at or after this time (RFC 3339).' })),
    until: nullable(Type.String({ description: 'Only decisions at or before this time (RFC 3339).' })),
  }),
);
const ReplayParams = Type.Object({
  replayId: pathId('The id of the replay.', 'r0_mwzc2ybp_34hhqKeuV27YUFv4'),
});
const NpcReplayParams = Type.Object({ ...NpcParams.properties, ...ReplayParams.properties });

type Trial = Pick<Static<typeof OfMind>, 'rulesetId' | 'rules' | 'instead' | 'outputs'>;

const issue = (pointer: string, message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer, message }] } });

const momentOf = (name: 'since' | 'until', text: string | null | undefined): string | undefined => {
  const timeMs = timeOf(name, text ?? undefined);
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
};

type ReplayRouteDeps = {
  readonly ports: Ports;
  readonly runtime: ProcessRuntime;
  readonly repository: ProcessRepository;
  readonly rulesets: Rulesets;
};

const trialRefuses: readonly RejectionCode[] = [
  ...(['RULESET_NOT_FOUND', 'EVENTS_TOO_LARGE', 'PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULES_INVALID'] as const),
  ...(['RULESET_TOO_LARGE', 'TEMPLATE_INVALID', 'REPLAYS_RUNNING', 'MEMBER_UNKNOWN'] as const),
];

/** Replays and trials. */
export const replayRoutes = ({ ports, runtime, repository, rulesets }: ReplayRouteDeps): readonly RouteDefinition[] => {
  const deps = { runtime, repository, events: ports.events };

  /** No decision was made under a set that was never registered, unless it is a preset. @throws Rejection RULESET_NOT_FOUND */
  const requireDecided = async (tenant: string, rulesetId: string): Promise<void> => {
    if (findPreset(rulesetId) === null && (await rulesets.newest(tenant, rulesetId)) === null)
      throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId } });
  };

  /** @throws Rejection SCHEMA_INVALID, RULESET_NOT_FOUND, and what `normaliseRuleset` refuses with */
  const trialOf = async (
    tenant: string,
    { rulesetId, rules, instead, outputs }: Trial,
  ): Promise<Pick<ReplayPlan, 'ruleset' | 'rules' | 'instead' | 'outputs'>> => {
    const isTrial = (rulesetId ?? null) !== null || (rules ?? null) !== null;
    if ((rulesetId ?? null) !== null && (rules ?? null) !== null)
      throw issue('/rules', 'cannot be combined with rulesetId; send one of them');
    if ((instead ?? null) !== null && !isTrial) throw issue('/instead', 'requires rulesetId or rules');
    const texts = outputs?.map(({ npcId, ...output }) => ({ ...output, ...defined({ npcId: npcId ?? undefined }) }));
    if (instead !== undefined && instead !== null) await requireDecided(tenant, instead);
    const asked = defined({ instead: instead ?? undefined, outputs: texts });
    if (rules !== undefined && rules !== null) {
      const content = await inSlices(normaliseRuleset(rules, () => UNNAMED_RULES, '/rules'));
      if (content instanceof Rejection) throw content;
      return { ...asked, rules: { ...content, version: UNREGISTERED_VERSION } };
    }
    if (rulesetId === undefined || rulesetId === null) return asked;
    const latest = await rulesets.latest(tenant, rulesetId);
    if (latest === null) throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId } });
    return { ...asked, ruleset: { rulesetId, version: latest.version } };
  };

  const accept = async (call: Call, plan: Omit<ReplayPlan, 'upTo'>, path: string) => {
    requireInputBytes(plan);
    await requireReplayRoom(ports.readModels, call.principal.tenant, call.wrote);
    const by = onBehalfOf(call);
    const { replay, position } = await runReplay(deps, plan, by);
    return {
      status: 202,
      position,
      headers: { Location: `${path}/${replay.replayId}` },
      body: shownReplay(replay),
    } as const;
  };

  const cancel = async (call: Call, named: { readonly replayId: string; readonly npcId?: string }) => {
    const by = onBehalfOf(call);
    const { replay, position } = await cancelReplay(deps, named, by);
    return { position, body: shownReplay(replay) };
  };

  const accepted = {
    202: {
      description: 'Accepted. It runs in the background; `Location` is the URL of its status.',
      schema: ShownReplay,
      example: examples.accepted,
    },
  };
  const shown = {
    200: {
      description: 'The status of the replay, and its results so far.',
      schema: ShownReplay,
      example: examples.replay,
    },
  };
  const common = { tag: 'Replays', scope: 'audit', ext: true } as const;

  return [
    route('POST', '/npcs/:npcId/replays', {
      ...common,
      operationId: 'replayNpc',
      summary: 'Replay the decisions of an NPC',
      description: 'Re-evaluates them under the recorded rules, or under other rules as a trial.',
      params: NpcParams,
      body: OfMind,
      example: examples.replayNpc,
      refuses: ['NPC_NOT_FOUND', ...trialRefuses],
      responses: accepted,
      handler: async (call) => {
        requireKnownMembers(call.body, OfMind);
        const { npcId } = call.params;
        await requireRevision(ports.events, call.principal.tenant, npcId);
        const { fromRevision, toRevision, turnId } = call.body;
        const asked = {
          fromRevision: fromRevision ?? undefined,
          toRevision: toRevision ?? undefined,
          turnId: turnId ?? undefined,
        };
        const plan = { npcIds: [npcId], ...defined(asked), ...(await trialOf(call.principal.tenant, call.body)) };
        return accept(call, plan, `/npcs/${encodeURIComponent(npcId)}/replays`);
      },
    }),
    route('POST', '/replays', {
      ...common,
      operationId: 'replayNpcs',
      summary: 'Replay the decisions of many NPCs',
      description:
        'Re-evaluates them under the recorded rules, or under other rules as a trial. Without `npcIds`, all NPCs are covered.',
      body: OfMinds,
      example: examples.replayNpcs,
      refuses: trialRefuses,
      responses: accepted,
      handler: async (call) => {
        requireKnownMembers(call.body, OfMinds);
        const { npcIds, since, until } = call.body;
        const times = defined({ since: momentOf('since', since), until: momentOf('until', until) });
        const minds = npcIds === undefined || npcIds === null ? null : [...new Set(npcIds)].sort();
        const plan = { npcIds: minds, ...times, ...(await trialOf(call.principal.tenant, call.body)) };
        return accept(call, plan, '/replays');
      },
    }),
    route('GET', '/replays/:replayId', {
      ...common,
      operationId: 'getReplay',
      summary: 'Get a replay',
      params: ReplayParams,
      refuses: ['REPLAY_NOT_FOUND'],
      responses: shown,
      handler: async (call) => ({ body: shownReplay(await findReplay(deps, call.principal.tenant, call.params)) }),
    }),
    route('GET', '/npcs/:npcId/replays/:replayId', {
      ...common,
      operationId: 'getNpcReplay',
      summary: 'Get a replay of an NPC',
      params: NpcReplayParams,
      refuses: ['REPLAY_NOT_FOUND'],
      responses: shown,
      handler: async (call) => ({ body: shownReplay(await findReplay(deps, call.principal.tenant, call.params)) }),
    }),
    route('DELETE', '/replays/:replayId', {
      ...common,
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description: 'Its results so far are kept.',
      params: ReplayParams,
      refuses: ['REPLAY_NOT_FOUND'],
      responses: shown,
      handler: (call) => cancel(call, call.params),
    }),
    route('DELETE', '/npcs/:npcId/replays/:replayId', {
      ...common,
      operationId: 'cancelNpcReplay',
      summary: 'Cancel a replay of an NPC',
      description: 'Its results so far are kept.',
      params: NpcReplayParams,
      refuses: ['REPLAY_NOT_FOUND'],
      responses: shown,
      handler: (call) => cancel(call, call.params),
    }),
  ];
};
