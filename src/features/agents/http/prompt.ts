import { Type } from '@sinclair/typebox';

import { clientSignal } from '../../../kernel/http/client-signal.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { AgentParams, ClientId, nullable } from '../../../kernel/http/schemas.js';
import type { Ports } from '../../../ports/ports.js';
import { askedRuleset } from '../../rules/asked-ruleset.js';
import { RulesBody } from '../../rules/body-schemas.js';
import type { Engines } from '../../engines/engines.js';
import type { Rulesets } from '../../rules/rulesets.js';
import type { TurnIndex } from '../../turns/turn-index.js';
import {
  ChatMessageSchema,
  ConstraintsSchema,
  LeftOutSchema,
  PromptPartSchema,
  RulesetRefSchema,
} from '../../turns/protocol-schemas.js';
import { showPrompt, type ShowPromptDeps } from '../show-prompt.js';
import { agentExamples as examples } from './examples.js';
import { perceivedIn, perceivedMembers } from './perceived.js';

const ShowPromptRequest = named(
  'ShowPromptRequest',
  Type.Object({
    ...perceivedMembers,
    ruleset: nullable(RulesBody),
    rulesetId: nullable({ ...ClientId, description: 'A registered set, instead of `ruleset`.' }),
  }),
);
const RecalledForPrompt = named(
  'RecalledForPrompt',
  Type.Object({
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    similarity: Type.Number(),
    memoryId: Type.String(),
    revision: Type.Integer(),
    storedAt: Type.String({ format: 'date-time' }),
    gameTime: Type.Optional(
      Type.Union([Type.Number(), Type.String()], { description: 'The time of the game when it was stored.' }),
    ),
    scoreParts: Type.Record(Type.String(), Type.Number()),
  }),
);
const ShownPrompt = named(
  'ShownPrompt',
  Type.Object({
    prompt: Type.String(),
    messages: Type.Array(ChatMessageSchema, { description: 'The same as messages, for engines that take them.' }),
    constraints: ConstraintsSchema,
    parts: Type.Array(PromptPartSchema, { description: 'What the prompt is made of, in its order.' }),
    memories: Type.Array(RecalledForPrompt, { description: 'What the turn would recall, best first.' }),
    ruleset: Type.Union([RulesetRefSchema, Type.Null()], { description: 'Null for a set that is not registered.' }),
    logic: Type.Integer({ description: 'The number of the decision logic.' }),
    promptAt: Type.String({ format: 'date-time', description: 'The time from which the ages of memories are told.' }),
    tokens: Type.Integer({ description: 'Of the prompt, by the counter of this server.' }),
    promptBudget: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The most tokens that a prompt for the engine may have; null if no limit is known.',
    }),
    isShortened: Type.Boolean({ description: 'Whether something was left out because of that limit.' }),
    leftOut: Type.Array(LeftOutSchema, { description: 'What was left out because of it.' }),
  }),
);
/** The answer of `POST /v1/agents/{agentId}/prompt`. */
export type ShownPromptAnswer = (typeof ShownPrompt)['static'];

type PromptRouteDeps = Omit<ShowPromptDeps, 'events' | 'index' | 'clock' | 'rulesets' | 'engineOf'> & {
  readonly engines: Pick<Engines, 'engineOf'>;
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly rulesets: Rulesets;
  readonly turnIndex: TurnIndex;
};

/** `POST /v1/agents/{agentId}/prompt`: what a turn would ask its engine. */
export const promptRoute = ({ ports, turnIndex: index, ...services }: PromptRouteDeps): RouteDefinition => {
  const { rulesets, writers, recall, conversation, engines } = services;
  const engineOf: ShowPromptDeps['engineOf'] = (tenant) => engines.engineOf(tenant);
  const deps = { engineOf, rulesets, writers, recall, conversation, index, events: ports.events, clock: ports.clock };
  return route('POST', '/v1/agents/:agentId/prompt', {
    operationId: 'showPrompt',
    tag: 'Agents',
    summary: 'Show the prompt that an input would get',
    description:
      'Recalls and decides as a turn would, with the rules of the NPC or with others. It opens no turn, records nothing and calls no engine.',
    scope: 'audit',
    ext: true,
    retention: 'never',
    params: AgentParams,
    body: ShowPromptRequest,
    example: examples.input,
    refuses: [
      ...(['EVENTS_TOO_LARGE', 'RULESET_NOT_FOUND', 'RULESET_UNKNOWN'] as const),
      ...(['PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULES_INVALID', 'RULESET_TOO_LARGE', 'TEMPLATE_INVALID'] as const),
    ],
    reads: [PLAYER_HEADER],
    responses: ok('The prompt, and what it is made from.', ShownPrompt, examples.prompt),
    handler: async (call) => {
      const { ruleset = null, rulesetId = null } = call.body;
      const instead = await askedRuleset(rulesets, call.principal.tenant, { ruleset, rulesetId });
      return { body: await showPrompt(deps, { ...perceivedIn(call), instead }, clientSignal(call)) };
    },
  });
};
