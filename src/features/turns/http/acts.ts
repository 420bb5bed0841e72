import { Type } from '@sinclair/typebox';

import type { Rulesets } from '../../rules/rulesets.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { type Act, actContext, type ActDeps, actDirective, actVerdict } from '../act.js';
import type { VerdictSigner } from '../verdict-signer.js';
import { verdictWire } from '../domain/signature.js';
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
import { AnyJson, FreeObject, NpcParams, nullable, openObject } from '../../../kernel/http/schemas.js';
import { rulesetWarning } from '../../../kernel/http/warning.js';
import { memoriesOf, MemoriesSchema, rulesetIdOf } from '../body-schemas.js';
import { defined } from '../../../kernel/base/defined.js';

const asked = {
  observation: nullable(Type.String()),
  npcState: nullable(FreeObject),
  rulesetId: nullable(Type.String()),
};
type ActBody = {
  observation?: string | null;
  npcState?: { readonly [name: string]: Json } | null;
  rulesetId?: string | null;
};

const actOf = (call: Call<{ npcId: string }, unknown, ActBody>): Act => {
  const rulesetId = rulesetIdOf(call.body.rulesetId);
  return {
    npcId: call.params.npcId,
    observation: call.body.observation ?? '',
    npcState: call.body.npcState ?? {},
    ...defined({ rulesetId }),
    by: contextOf(call),
  };
};

const answered = (
  { revision, position, rulesetMissing }: { revision: number; position: number; rulesetMissing?: string },
  body: unknown,
): Answer => ({ revision, position, headers: rulesetWarning(rulesetMissing), body });

const common = { tag: 'Protocol', scope: 'npc', params: NpcParams } as const;

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
      summary: 'What to recall for an observation',
      writesTo: mindStream,
      body: Type.Object({ ...asked, context: Type.Optional(AnyJson) }),
      responses: ok(
        'The recall to run.',
        Type.Object({
          memoryRecall: Type.Object({ query: Type.String(), limit: Type.Integer(), threshold: Type.Number() }),
          turnId: Type.String(),
        }),
      ),
      handler: async (call) => {
        const acted = await actDirective(deps, { ...actOf(call), context: call.body.context ?? {} });
        return answered(acted, { memoryRecall: acted.event.memoryRecall, turnId: acted.event.turnId });
      },
    }),
    route('POST', '/npcs/:npcId/context', {
      ...common,
      operationId: 'context',
      summary: 'Which prompt to run with the recalled memories',
      writesTo: mindStream,
      body: Type.Object({ ...asked, memories: nullable(MemoriesSchema), persona: nullable(Type.String()) }),
      responses: ok(
        'The prompt, and the messages that it was formatted from (null for the template Raw).',
        Type.Object({
          prompt: Type.String(),
          constraints: openObject({ maxTokens: Type.Integer(), temperature: Type.Number() }),
          ctxMessages: Type.Union([
            Type.Array(Type.Object({ role: Type.String(), content: Type.String() })),
            Type.Null(),
          ]),
          turnId: Type.String(),
        }),
      ),
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
      summary: "Whether a model's text is allowed, and what follows from it",
      writesTo: mindStream,
      body: Type.Object({ ...asked, generatedOutput: Type.String() }),
      responses: ok(
        'The verdict; a refusal is also an answer.',
        openObject({
          valid: Type.Boolean(),
          dialogue: Type.String(),
          action: Type.Union([FreeObject, Type.Null()]),
          signature: Type.Union([Type.String(), Type.Null()]),
          memoryStore: Type.Array(FreeObject),
          stateDelta: FreeObject,
          turnId: Type.String(),
        }),
      ),
      handler: async (call) => {
        const act = actOf(call);
        const acted = await actVerdict(deps, { ...act, generatedOutput: call.body.generatedOutput });
        const { turnId, verdict, asked: inputs, ...rest } = acted.event;
        const { kid, iss } = { kid: undefined, iss: undefined, ...rest };
        const signature = await signer.sign({
          tenant: call.principal.tenant,
          npcId: act.npcId,
          turnId,
          observation: inputs?.observation ?? '',
          verdict,
          ...(kid === undefined || iss === undefined ? {} : { signing: { ...acted.at, kid, iss } }),
        });
        return answered(acted, { ...verdictWire(verdict, signature), turnId });
      },
    }),
  ];
};
