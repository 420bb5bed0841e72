import { Type } from '@sinclair/typebox';

import { mindFold } from '../../app/mind.js';
import { readMind } from '../../app/minds.js';
import { READ_WAIT_MS } from '../../app/read-wait.js';
import { runCommand } from '../../app/run-command.js';
import { listBridgeRules } from '../../domain/bridge/rule-list.js';
import { validateAction } from '../../domain/bridge/validate.js';
import type { DirectiveRuleSet } from '../../domain/rules/ruleset.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { rulesets as rulesetRows } from '../../../projections/rulesets.js';
import { contextOf } from '../command-context.js';
import { revisionHeader } from '../min-revision.js';
import { WHOLE_LIMIT } from '../page.js';
import { type RouteDefinition, route } from '../route.js';
import { AnyJson, FreeObject, NpcParams, nullable } from '../schemas.js';
import type { Services } from '../services.js';

const Question = Type.Object({
  action: AnyJson,
  context: nullable(
    Type.Object({
      npcState: nullable(FreeObject),
      worldState: nullable(FreeObject),
      constraints: nullable(FreeObject),
    }),
  ),
});
const Checked = Type.Object(
  {
    valid: Type.Boolean(),
    reason: Type.Union([Type.String(), Type.Null()]),
    correctedAction: Type.Union([FreeObject, Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
    details: FreeObject,
  },
  { additionalProperties: true },
);

/** `/bridge/...` (contract 4). */
export const bridgeRoutes = ({ ports, lanes, rulesets, written }: Services): readonly RouteDefinition[] => [
  route({
    operationId: 'validateAction',
    method: 'POST',
    path: '/bridge/validate',
    tag: 'Bridge',
    summary: 'Whether the world lets an action happen',
    scope: 'npc',
    body: Question,
    responses: { 200: { description: 'The answer; a refusal is one too.', schema: Checked } },
    handler: async (call) => {
      const { ruleset } = await rulesets.choose(call.principal.tenant, undefined);
      const { action, context } = call.body;
      return { body: validateAction({ action, context: context ?? {}, recorded: null, ruleset }) };
    },
  }),
  route({
    operationId: 'validateActionOf',
    method: 'POST',
    path: '/bridge/validate/:npcId',
    tag: 'Bridge',
    summary: "Whether the world lets an NPC's action happen; its recorded state fills what the context leaves out",
    description: 'The check is recorded in the history of an NPC that exists.',
    scope: 'npc',
    params: NpcParams,
    body: Question,
    responses: { 200: { description: 'The answer; a refusal is one too.', schema: Checked } },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant, keyId } = call.principal;
      const { action, context: given } = call.body;
      const context = given ?? {};
      const { ruleset } = await rulesets.choose(tenant, undefined);
      if ((await readMind(lanes, tenant, npcId)) === null) {
        return { body: validateAction({ action, context, recorded: null, ruleset }) };
      }
      const outcome = await runCommand(
        { ...ports, lanes },
        npcStream(tenant, npcId),
        mindFold,
        contextOf(call),
        (mind) => {
          const { checks: _, ...answer } = validateAction({ action, context, recorded: mind.data, ruleset });
          const ref = ruleset === null ? null : { rulesetId: ruleset.rulesetId, version: ruleset.version };
          return [
            { type: 'BridgeChecked', data: { mindRevision: mind.revision, action, context, ruleset: ref, ...answer } },
          ];
        },
      );
      written.noted(keyId, outcome.position);
      const { valid, reason, correctedAction, code, details } = outcome.events[0]?.data ?? {};
      return { headers: revisionHeader(outcome.revision), body: { valid, reason, correctedAction, code, details } };
    },
  }),
  route({
    operationId: 'listBridgeRules',
    method: 'GET',
    path: '/bridge/rules',
    tag: 'Bridge',
    summary: "The world's own rules, then every registered one",
    scope: 'npc',
    responses: {
      200: {
        description: 'The rules.',
        schema: Type.Array(
          Type.Object({
            brRuleId: Type.String(),
            ruleDescription: Type.String(),
            affectedActions: Type.Array(Type.String()),
          }),
        ),
      },
    },
    handler: async (call) => {
      await ports.readModels.reachedPosition(rulesetRows, written.position(call.principal.keyId), READ_WAIT_MS);
      const rows = await ports.readModels.list(rulesetRows, {
        partition: call.principal.tenant,
        direction: 'ascending',
        limit: WHOLE_LIMIT,
      });
      return { body: listBridgeRules(rows.map(({ row }) => row as unknown as DirectiveRuleSet)) };
    },
  }),
];
