import { Type } from '@sinclair/typebox';

import type { Rulesets } from '../../rules/rulesets.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { type Act, type Acted, actContext, type ActDeps, actDirective, actVerdict } from '../act.js';
import type { VerdictSigner } from '../verdict-signer.js';
import { verdictWire } from '../domain/signature.js';
import { speakerOf } from '../speaker-of.js';
import type { Json } from '../../../kernel/base/json.js';
import type { Ports } from '../../../ports/ports.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import {
  type Answer,
  type Call,
  contextOf,
  mindStream,
  ok,
  route,
  type RouteDefinition,
} from '../../../kernel/http/route.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { AnyJson, FreeObject, NpcParams, nullable } from '../../../kernel/http/schemas.js';
import { rulesetWarning } from '../../../kernel/http/warning.js';
import { memoriesOf, MemoriesSchema, PlayerSchema, rulesetIdOf } from '../body-schemas.js';
import { ChatMessageSchema, ConstraintsSchema, RecallQuerySchema, verdictMembers } from '../protocol-schemas.js';
import { actExamples as examples } from './examples.js';
import { defined } from '../../../kernel/base/defined.js';

const asked = {
  observation: nullable(Type.String({ description: 'What the NPC perceives.' })),
  npcState: nullable(FreeObject),
  context: Type.Optional(AnyJson),
  player: PlayerSchema,
  rulesetId: nullable(
    Type.String({
      description: "The ruleset to apply, unless the NPC is bound to one; by default, the tenant's default ruleset.",
    }),
  ),
};
const turnId = Type.String({ description: 'The id under which the act is recorded.' });

const DirectiveRequest = named('DirectiveRequest', Type.Object(asked));
const DirectiveResponse = named('DirectiveResponse', Type.Object({ memoryRecall: RecallQuerySchema, turnId }));
const ContextRequest = named(
  'ContextRequest',
  Type.Object({ ...asked, memories: nullable(MemoriesSchema), persona: nullable(Type.String()) }),
);
const ContextResponse = named(
  'ContextResponse',
  Type.Object({
    prompt: Type.String(),
    constraints: ConstraintsSchema,
    ctxMessages: Type.Union([Type.Array(ChatMessageSchema), Type.Null()], {
      description: 'The messages from which the prompt was formatted; null with the template `Raw`.',
    }),
    turnId,
  }),
);
const VerdictRequest = named(
  'VerdictRequest',
  Type.Object({ ...asked, generatedOutput: Type.String({ description: 'The text of the language model.' }) }),
);
const VerdictResponse = named('VerdictResponse', Type.Object({ ...verdictMembers, turnId }));
type ActBody = {
  observation?: string | null;
  context?: Json;
  npcState?: { readonly [name: string]: Json } | null;
  player?: Json;
  rulesetId?: string | null;
};

const actOf = (call: Call<{ npcId: string }, unknown, ActBody>): Act => {
  const rulesetId = rulesetIdOf(call.body.rulesetId);
  const context = call.body.context ?? {};
  const player = speakerOf(call, context);
  return {
    npcId: call.params.npcId,
    observation: call.body.observation ?? '',
    context,
    npcState: call.body.npcState ?? {},
    ...defined({ rulesetId, player }),
    by: contextOf(call),
  };
};

type Recorded = Pick<Acted<'ContextBuilt'>, 'revision' | 'position' | 'rulesetMissing' | 'rulesetIgnored'>;
const answered = ({ revision, position, rulesetMissing, rulesetIgnored }: Recorded, body: unknown): Answer => ({
  revision,
  position,
  headers: rulesetWarning(rulesetMissing, rulesetIgnored),
  body,
});

const common = {
  tag: 'Protocol',
  scope: 'npc',
  params: NpcParams,
  deciding: { decidesBy: ['/rulesetId', '/context', '/npcState'] },
  reads: [PLAYER_HEADER],
  refuses: ['CONFLICT', 'EVENTS_TOO_LARGE', 'RULESET_UNKNOWN', 'MEMBER_MISSPELT'],
} as const;

type ActRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly rulesets: Rulesets;
  readonly signer: VerdictSigner;
  readonly signingKeys: SigningKeys;
  readonly publicUrl: string;
};

/** `POST /npcs/{npcId}/directive|context|verdict`: stateless for the client, and recorded as events of the mind. */
export const actRoutes = (services: ActRouteDeps): readonly RouteDefinition[] => {
  const { ports, writers, rulesets, signer, signingKeys, publicUrl } = services;
  const deps: ActDeps = { ports, writers, rulesets, issuer: () => ({ kid: signingKeys.current.kid, iss: publicUrl }) };
  return [
    route('POST', '/npcs/:npcId/directive', {
      ...common,
      operationId: 'directive',
      summary: 'Decide what to recall for an observation',
      writesTo: mindStream,
      body: DirectiveRequest,
      example: examples.directive,
      sends: ['Anima-Revision'],
      responses: ok('What to recall.', DirectiveResponse, examples.directed),
      handler: async (call) => {
        const acted = await actDirective(deps, actOf(call));
        return answered(acted, { memoryRecall: acted.event.memoryRecall, turnId: acted.event.turnId });
      },
    }),
    route('POST', '/npcs/:npcId/context', {
      ...common,
      operationId: 'context',
      summary: 'Build the prompt for an observation and recalled memories',
      writesTo: mindStream,
      body: ContextRequest,
      example: examples.context,
      sends: ['Anima-Revision'],
      responses: ok('The prompt.', ContextResponse, examples.built),
      handler: async (call) => {
        const { memories, persona } = call.body;
        const acted = await actContext(deps, {
          ...actOf(call),
          memories: memoriesOf(memories ?? []),
          ...(typeof persona === 'string' ? { persona } : {}),
        });
        const { prompt, constraints, ctxMessages, turnId } = acted.event;
        return answered(acted, { prompt, constraints, ctxMessages, turnId });
      },
    }),
    route('POST', '/npcs/:npcId/verdict', {
      ...common,
      operationId: 'verdict',
      refuses: [...common.refuses, 'CHAIN_BROKEN'],
      summary: "Judge a model's text",
      description: 'Decides whether its action is allowed, what the NPC says, what changes and what it remembers.',
      writesTo: mindStream,
      body: VerdictRequest,
      example: examples.verdict,
      sends: ['Anima-Revision'],
      responses: ok('The verdict, even if it refuses the action.', VerdictResponse, examples.judged),
      handler: async (call) => {
        const act = actOf(call);
        const acted = await actVerdict(deps, { ...act, generatedOutput: call.body.generatedOutput });
        const { turnId, verdict, asked: inputs, ...rest } = acted.event;
        const { kid, iss } = { kid: undefined, iss: undefined, ...rest };
        const ruleset = inputs?.ruleset ?? null;
        const signature = await signer.sign({
          tenant: call.principal.tenant,
          npcId: act.npcId,
          turnId,
          observation: inputs?.observation ?? '',
          verdict,
          isFresh: acted.isFresh,
          ...(kid === undefined || iss === undefined ? {} : { signing: { ...acted.at, kid, iss, ruleset } }),
        });
        return answered(acted, { ...verdictWire(verdict, signature), turnId });
      },
    }),
  ];
};
