import { Type } from '@sinclair/typebox';

import { mindFold } from '../../npcs/mind-fold.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { revisionOf } from '../../npcs/find-mind.js';
import type { Rulesets } from '../../rules/rulesets.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { bridgeRulesOf, listBridgeRules } from '../../rules/domain/bridge/rule-list.js';
import { type BridgeAnswer, validateAction } from '../../rules/domain/bridge/validate.js';
import { checkOfMind } from '../domain/decision/bridge-checked.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import { holdPatterns } from '../../rules/domain/hold-patterns.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import type { Json } from '../../../kernel/base/json.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { rulesets as rulesetRows } from '../../../../projections/rulesets.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { AnyJson, FreeObject, NpcParams, nullable, openObject } from '../../../kernel/http/schemas.js';

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
type Check = Pick<BridgeAnswer, 'valid' | 'reason' | 'correctedAction' | 'code' | 'details'>;

const Checked = openObject({
  valid: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()]),
  correctedAction: Type.Union([FreeObject, Type.Null()]),
  code: Type.Union([Type.String(), Type.Null()]),
  details: FreeObject,
});

/**
 * The question is at most as large as what could be recorded, even if nothing is recorded. A corrected action is recorded beside the requested one.
 * @throws Rejection EVENTS_TOO_LARGE
 */
const takeQuestion = (action: Json, context: Json): Promise<void> => takeRecordable([action, action, context]);

type BridgeRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters; readonly rulesets: Rulesets };

/** `/bridge/...`. */
export const bridgeRoutes = ({ ports, writers, rulesets }: BridgeRouteDeps): readonly RouteDefinition[] => {
  /** The tenant's default. There is no observation when only an action is checked, so patterns see the empty text. */
  const rulesOf = async (tenant: string) => {
    const { ruleset } = await rulesets.choose(tenant, undefined);
    return { ruleset, patternsHeld: await inSlices(holdPatterns(ruleset, '')) };
  };
  return [
    route('POST', '/bridge/validate', {
      operationId: 'validateAction',
      tag: 'Bridge',
      summary: 'Whether the world lets an action happen',
      scope: 'npc',
      retention: 'never',
      body: Question,
      responses: ok('The answer; a refusal is also an answer.', Checked),
      handler: async (call) => {
        const { action, context } = call.body;
        await takeQuestion(action, context ?? {});
        const rules = await rulesOf(call.principal.tenant);
        return { body: validateAction({ action, context: context ?? {}, recorded: null, ...rules }) };
      },
    }),
    route('POST', '/bridge/validate/:npcId', {
      operationId: 'validateActionOf',
      tag: 'Bridge',
      summary: "Whether the world lets an NPC's action happen; the recorded state supplies what the context leaves out",
      description: 'The check is recorded in the history of an NPC that exists.',
      scope: 'npc',
      params: NpcParams,
      writesTo: mindStream,
      body: Question,
      responses: ok('The answer; a refusal is also an answer.', Checked),
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const { action, context: given } = call.body;
        const context = given ?? {};
        await takeQuestion(action, context);
        const rules = await rulesOf(tenant);
        if ((await revisionOf(ports.events, tenant, npcId)) < 0) {
          return { body: validateAction({ action, context, recorded: null, ...rules }) };
        }
        const outcome = await runCommand(
          { ...ports, writers },
          npcStream(tenant, npcId),
          mindFold,
          contextOf(call),
          (mind) => checkOfMind(mind, { action, context, ...rules }),
        );
        const { revision, position, events, state } = outcome;
        // Done before there was a mind, it recorded nothing, and is answered with what is there now.
        const [checked] = events.length > 0 ? events : checkOfMind(state, { action, context, ...rules });
        const { valid, reason, correctedAction, code, details } = checked?.data as unknown as Check;
        return { revision, position, body: { valid, reason, correctedAction, code, details } };
      },
    }),
    route('GET', '/bridge/rules', {
      operationId: 'listBridgeRules',
      tag: 'Bridge',
      summary: "The world's own rules, then every registered one",
      description: 'A page holds whole sets: `limit` counts sets.',
      scope: 'npc',
      query: Type.Object(pageQuery),
      responses: ok(
        'The rules.',
        Type.Array(
          Type.Object({
            brRuleId: Type.String(),
            ruleDescription: Type.String(),
            affectedActions: Type.Array(Type.String()),
          }),
        ),
      ),
      handler: async (call) => {
        await ports.readModels.reachedPosition(rulesetRows, call.wrote);
        const page = pageOf(call.query);
        const { rows, more } = await ports.readModels.list(rulesetRows, {
          partition: call.principal.tenant,
          direction: 'ascending',
          ...page,
        });
        const sets = rows.map(({ row }) => row as unknown as DirectiveRuleSet);
        return {
          headers: nextLink(call, page, rows, more),
          body: page.beyond === undefined ? listBridgeRules(sets) : bridgeRulesOf(sets),
        };
      },
    }),
  ];
};
