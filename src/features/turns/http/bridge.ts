import { Type } from '@sinclair/typebox';

import { revisionOf } from '../../npcs/find-mind.js';
import type { RulesetChoice, Rulesets } from '../../rules/rulesets.js';
import { rulesAtHand, runWithRules } from '../run-with-rules.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { bridgeRulesOf, listBridgeRules } from '../../rules/domain/bridge/rule-list.js';
import { type BridgeAnswer, validateAction } from '../../rules/domain/bridge/validate.js';
import { ActionSchema, BridgeCheckSchema } from '../protocol-schemas.js';
import { bridgeExamples as examples } from './examples.js';
import { checkOfMind } from '../domain/decision/bridge-checked.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import type { Json } from '../../../kernel/base/json.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { rulesets as rulesetRows } from '../../../../projections/rulesets.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject, NpcParams, nullable } from '../../../kernel/http/schemas.js';

const Question = named(
  'ValidateActionRequest',
  Type.Object({
    action: Type.Unsafe<Json>({ description: 'An action, or only its type, as a model wrote it.' }),
    context: nullable(
      named(
        'BridgeContext',
        Type.Object({
          npcState: nullable(FreeObject),
          worldState: nullable(FreeObject),
          constraints: nullable(FreeObject),
        }),
      ),
    ),
  }),
);
/** The default rules or those that the NPC is bound to apply, whatever the client names. */
const deciding = {
  decidesBy: ['/context', '/context/npcState', '/context/worldState', '/context/constraints'],
  ignoresRulesetId: true,
} as const;
type Check = Pick<BridgeAnswer, 'valid' | 'reason' | 'correctedAction' | 'code' | 'details'>;

const CheckedAction = named(
  'CheckedAction',
  Type.Object({
    valid: Type.Boolean(),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is refused; null if it is valid.' }),
    correctedAction: Type.Union([ActionSchema, Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()], { description: 'Such as `OUT_OF_BOUNDS`; null if it is valid.' }),
    details: FreeObject,
    checks: Type.Optional(
      Type.Array(BridgeCheckSchema, { description: 'What each rule found. Absent if the check was recorded.' }),
    ),
  }),
);
const BridgeRule = named(
  'BridgeRule',
  Type.Object({
    brRuleId: Type.String(),
    ruleDescription: Type.String(),
    affectedActions: Type.Array(Type.String()),
  }),
);
const BridgeRuleList = named('BridgeRuleList', Type.Array(BridgeRule));

/**
 * The question is at most as large as what could be recorded, even if nothing is recorded. A corrected action is recorded beside the requested one.
 * @throws Rejection EVENTS_TOO_LARGE
 */
const takeQuestion = (action: Json, context: Json): Promise<void> => takeRecordable([action, action, context]);

type BridgeRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters; readonly rulesets: Rulesets };

/** `/bridge/...`. */
export const bridgeRoutes = ({ ports, writers, rulesets }: BridgeRouteDeps): readonly RouteDefinition[] => {
  /** There is no observation when only an action is checked, so patterns see the empty text. */
  const observation = '';
  const chooser = (tenant: string) => (choice: RulesetChoice) => rulesets.choose(tenant, choice);
  /** The tenant's default. */
  const defaultRules = async (tenant: string) => {
    const { chosen, patternsHeld } = await rulesAtHand(chooser(tenant), { bound: null, named: undefined }, observation);
    return { ruleset: chosen.ruleset, patternsHeld };
  };
  return [
    route('POST', '/bridge/validate', {
      operationId: 'validateAction',
      tag: 'Bridge',
      summary: 'Check an action against the rules of the world',
      scope: 'npc',
      retention: 'never',
      body: Question,
      deciding,
      example: examples.question,
      refuses: ['EVENTS_TOO_LARGE', 'MEMBER_MISSPELT'],
      responses: ok('The result, even if the action is refused.', CheckedAction, examples.checked),
      handler: async (call) => {
        const { action, context } = call.body;
        await takeQuestion(action, context ?? {});
        const rules = await defaultRules(call.principal.tenant);
        return { body: validateAction({ action, context: context ?? {}, recorded: null, facts: {}, ...rules }) };
      },
    }),
    route('POST', '/bridge/validate/:npcId', {
      operationId: 'validateActionOf',
      tag: 'Bridge',
      summary: "Check an NPC's action against the rules of the world",
      description:
        'The recorded state of the NPC fills in what `context` leaves out. If the NPC exists, the check is recorded in its history.',
      scope: 'npc',
      params: NpcParams,
      writesTo: mindStream,
      body: Question,
      deciding,
      example: examples.question,
      refuses: ['CONFLICT', 'EVENTS_TOO_LARGE', 'MEMBER_MISSPELT'],
      sends: ['Anima-Revision'],
      responses: ok('The result, even if the action is refused.', CheckedAction, examples.checked),
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const { action, context: given } = call.body;
        const context = given ?? {};
        await takeQuestion(action, context);
        if ((await revisionOf(ports.events, tenant, npcId)) < 0) {
          const rules = await defaultRules(tenant);
          return { body: validateAction({ action, context, recorded: null, facts: {}, ...rules }) };
        }
        const { revision, position, events, state, rules } = await runWithRules(
          { ...ports, writers },
          { stream: npcStream(tenant, npcId), choose: chooser(tenant), observation },
          contextOf(call),
          (mind, atHand) => checkOfMind(mind, { action, context, ...atHand }),
        );
        // Done before there was a mind, it recorded nothing, and is answered with what is there now.
        const [checked] = events.length > 0 ? events : checkOfMind(state, { action, context, ...rules });
        const { valid, reason, correctedAction, code, details } = checked?.data as unknown as Check;
        return { revision, position, body: { valid, reason, correctedAction, code, details } };
      },
    }),
    route('GET', '/bridge/rules', {
      operationId: 'listBridgeRules',
      tag: 'Bridge',
      summary: 'List the rules of the bridge',
      description:
        'The built-in rules of the world first, then all registered ones. `limit` counts rule sets, because a page holds whole sets.',
      scope: 'npc',
      query: Type.Object(pageQuery),
      responses: ok('The rules.', BridgeRuleList, examples.rules),
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
