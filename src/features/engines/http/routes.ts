import { Type } from '@sinclair/typebox';

import { type Engines, isDefaultName } from '../engines.js';
import { chooseDefaultCortex, type InitialisedCortex, lookUpCortex, NO_RUNTIME } from '../init-cortex.js';
import { cortexExamples as examples } from './examples.js';
import type { TenantDeps } from '../../keys/api-keys.js';
import { withTimeLimit } from '../../../kernel/concurrency/time-limit.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject, nullable } from '../../../kernel/http/schemas.js';

/** How long a completion may take. */
const COMPLETE_MS = 30_000;
/** The bounds of a completion. */
const MAX_TOKENS = 32_768;
const MAX_STOPS = 16;
const MAX_STOP_CHARS = 256;
const MAX_NAME_CHARS = 256;

const name = Type.String({
  maxLength: MAX_NAME_CHARS,
  description: 'The id of the engine, from `GET /cortex/models`.',
  examples: ['scripted'],
});
const Cortex = named(
  'Cortex',
  Type.Object({
    cortexId: Type.String(),
    runtime: Type.String({ description: '`builtin`, `http`, `llama.cpp`, or `none`.' }),
    state: Type.String({ description: '`ready`, or why the engine is not ready.' }),
  }),
);
const CortexModel = named(
  'CortexModel',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    parameters: Type.Number({ description: 'In millions; 0 if unknown.' }),
  }),
);
const CortexModelList = named('CortexModelList', Type.Array(CortexModel));
const InitCortexRequest = named(
  'InitCortexRequest',
  Type.Object({
    requestedModel: Type.String({ maxLength: MAX_NAME_CHARS }),
    authKey: nullable(Type.String({ description: 'Ignored.' })),
    default: nullable(Type.Boolean({ description: "Make it the tenant's default." })),
  }),
);
const CompletePromptRequest = named(
  'CompletePromptRequest',
  Type.Object({
    prompt: Type.String(),
    maxTokens: nullable(Type.Integer({ minimum: 1, maximum: MAX_TOKENS })),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    stop: nullable(Type.Array(Type.String({ minLength: 1, maxLength: MAX_STOP_CHARS }), { maxItems: MAX_STOPS })),
    jsonSchema: Type.Optional(FreeObject),
  }),
);
const Completion = named(
  'Completion',
  Type.Object({
    id: Type.String(),
    text: Type.String(),
    stats: Type.Record(Type.String(), Type.Number(), { description: 'Figures that the engine reports.' }),
  }),
);

const late = (): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', {
    details: { reason: `The engine did not respond within ${String(COMPLETE_MS / 1000)} seconds.` },
    retryAfter: 1,
  });

/** A tenant's default is changed by admins only. @throws Rejection FORBIDDEN */
const requireAdmin = ({ principal }: Call): void => {
  if (principal.scopes.includes('admin')) return;
  throw new Rejection('FORBIDDEN', {
    message:
      'This API key does not have the scope "admin", which is required to change the default engine of the tenant.',
    details: { scope: 'admin' },
  });
};

/** The engine as the client sees it: if this server does not have it, `state` also says which request helps. */
const withHint = (found: InitialisedCortex, requested: string): InitialisedCortex => {
  if (found.runtime !== NO_RUNTIME) return found;
  const hint = isDefaultName(requested)
    ? 'POST /cortex/init with "default": true chooses another one (scope admin).'
    : 'GET /cortex/models lists all engines.';
  return { ...found, state: `${found.state} ${hint}` };
};

/** Engines: listing them, choosing one, and asking one. */
export const cortexRoutes = (
  { engines, ports }: { readonly engines: Engines; readonly ports: Pick<Ports, 'clock'> },
  tenants: TenantDeps,
): readonly RouteDefinition[] => [
  route('GET', '/cortex/models', {
    operationId: 'listCortexModels',
    tag: 'Cortex',
    summary: 'List engines',
    scope: 'npc',
    responses: ok('The engines.', CortexModelList, examples.models),
    handler: () => ({ body: engines.all.map(({ id, name, parameters }) => ({ id, name, parameters })) }),
  }),
  route('POST', '/cortex/init', {
    operationId: 'initCortex',
    // Where nothing changed nothing is recorded, and a late repeat would undo what came later.
    retention: 'always',
    tag: 'Cortex',
    summary: 'Choose an engine',
    description:
      "Finds an engine and reports whether it is ready. `requestedModel` is the name of an engine or of its model; `api-integrated` and the empty string mean the tenant's default. `default: true` makes a ready engine the tenant's default, and needs the scope `admin`. Engines take their keys from the configuration of the server.",
    scope: 'npc',
    body: InitCortexRequest,
    example: examples.init,
    refuses: ['CORTEX_NOT_FOUND', 'CONFLICT'],
    responses: ok('The engine. If the name is unknown, `state` reports it.', Cortex, examples.cortex),
    handler: async (call) => {
      const { requestedModel, default: makeDefault } = call.body;
      if (makeDefault === true) requireAdmin(call);
      const found =
        makeDefault === true
          ? await chooseDefaultCortex(tenants, engines, contextOf(call), requestedModel)
          : lookUpCortex(engines, call.principal.tenant, requestedModel);
      return { body: withHint(found, requestedModel) };
    },
  }),
  route('POST', '/cortex/:cortexId/complete', {
    operationId: 'completePrompt',
    tag: 'Cortex',
    summary: 'Complete a prompt',
    description:
      'Deprecated: use turns or `POST /v1/agents/{agentId}/process` instead. The engine has up to 30 seconds.',
    scope: 'npc',
    // The text was paid for.
    retention: 'always',
    deprecated: '2026-01-01',
    params: Type.Object({ cortexId: name }),
    body: CompletePromptRequest,
    example: examples.complete,
    refuses: ['CORTEX_NOT_FOUND', 'CORTEX_NO_ANSWER'],
    responses: ok('The text of the engine.', Completion, examples.completed),
    handler: async (call) => {
      const { cortexId } = call.params;
      const engine = engines.all.find(({ id }) => id === cortexId);
      if (engine === undefined) throw new Rejection('CORTEX_NOT_FOUND', { details: { cortexId } });
      const { prompt, maxTokens, temperature, stop, jsonSchema } = call.body;
      const asked = {
        prompt,
        ...defined({
          maxTokens: maxTokens ?? undefined,
          temperature: temperature ?? undefined,
          stop: stop ?? undefined,
          jsonSchema,
        }),
      };
      const limit = { ms: COMPLETE_MS, late, signal: clientSignal(call) };
      const { text, stats } = await withTimeLimit(ports.clock, limit, (signal) => engine.complete(asked, signal));
      return { body: { id: call.commandId, text, stats } };
    },
  }),
];
