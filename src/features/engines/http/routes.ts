import { Type } from '@sinclair/typebox';

import type { Engines } from '../engines.js';
import { chooseDefaultCortex, lookUpCortex } from '../init-cortex.js';
import type { TenantDeps } from '../../keys/api-keys.js';
import { withTimeLimit } from '../../../kernel/concurrency/time-limit.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { FreeObject, nullable } from '../../../kernel/http/schemas.js';

/** How long a completion may take. */
const COMPLETE_MS = 30_000;
/** The bounds of what is asked for. */
const MAX_TOKENS = 32_768;
const MAX_STOPS = 16;
const MAX_STOP_CHARS = 256;
const MAX_NAME_CHARS = 256;

const name = Type.String({ maxLength: MAX_NAME_CHARS });
const found = Type.Object({
  cortexId: Type.String({ example: 'scripted' }),
  runtime: Type.String({ example: 'builtin', description: '`builtin`, `http`, `llama.cpp`, or `none`.' }),
  state: Type.String({ example: 'ready', description: '`ready`, or a sentence that says why not.' }),
});
const model = Type.Object({
  id: Type.String({ example: 'scripted' }),
  name: Type.String({ example: 'Scripted' }),
  parameters: Type.Number({ example: 0, description: 'Millions of parameters; 0 where it is not known.' }),
});

const late = (): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', {
    details: { reason: `It has not answered within ${String(COMPLETE_MS / 1000)} seconds.` },
    retryAfter: 1,
  });

/** A tenant's default is changed by admins only. @throws Rejection FORBIDDEN */
const requireAdmin = ({ principal }: Call): void => {
  if (principal.scopes.includes('admin')) return;
  throw new Rejection('FORBIDDEN', {
    message: 'This key does not have the scope "admin", which changing the tenant\'s default engine needs.',
    details: { scope: 'admin' },
  });
};

/** Engines: listing them, choosing one, and asking one. */
export const cortexRoutes = (
  { engines, ports }: { readonly engines: Engines; readonly ports: Pick<Ports, 'clock'> },
  tenants: TenantDeps,
): readonly RouteDefinition[] => [
  route('GET', '/cortex/models', {
    operationId: 'listCortexModels',
    tag: 'Cortex',
    summary: 'Lists the engines of this server',
    scope: 'npc',
    responses: ok('The engines.', Type.Array(model)),
    handler: () => ({ body: engines.all.map(({ id, name, parameters }) => ({ id, name, parameters })) }),
  }),
  route('POST', '/cortex/init', {
    operationId: 'initCortex',
    // Where nothing changed nothing is recorded, and a late repeat would undo what came later.
    retention: 'always',
    tag: 'Cortex',
    summary: 'Finds an engine, and tells whether it is ready',
    description:
      "`requestedModel` is the name of an engine or of its model; `api-integrated` and the empty text name the tenant's default. `default: true` (scope `admin`) makes an engine that is ready the tenant's default. `authKey` is ignored: engines take their keys from the server's configuration.",
    scope: 'npc',
    body: Type.Object({
      requestedModel: Type.String({ maxLength: MAX_NAME_CHARS, example: 'scripted' }),
      authKey: nullable(Type.String()),
      default: nullable(Type.Boolean({ description: "Makes it the tenant's default." })),
    }),
    responses: ok('The engine; also for a name that no engine has.', found),
    handler: async (call) => {
      const { requestedModel, default: makeDefault } = call.body;
      if (makeDefault !== true) return { body: lookUpCortex(engines, call.principal.tenant, requestedModel) };
      requireAdmin(call);
      return { body: await chooseDefaultCortex(tenants, engines, contextOf(call), requestedModel) };
    },
  }),
  route('POST', '/cortex/:cortexId/complete', {
    operationId: 'completePrompt',
    tag: 'Cortex',
    summary: 'Lets an engine continue a prompt',
    description: 'Deprecated: let a turn, or an agent, ask the engine. Waits 30 seconds at most.',
    scope: 'npc',
    // The text was paid for.
    retention: 'always',
    deprecated: '2026-01-01',
    params: Type.Object({ cortexId: name }),
    body: Type.Object({
      prompt: Type.String({ example: 'Who are you?' }),
      maxTokens: nullable(Type.Integer({ minimum: 1, maximum: MAX_TOKENS })),
      temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
      stop: nullable(Type.Array(Type.String({ minLength: 1, maxLength: MAX_STOP_CHARS }), { maxItems: MAX_STOPS })),
      jsonSchema: Type.Optional(FreeObject),
    }),
    responses: ok(
      'What the engine wrote.',
      Type.Object({
        id: Type.String(),
        text: Type.String({ example: 'Maren. I keep the house.' }),
        stats: Type.Record(Type.String(), Type.Number(), { description: 'What the engine tells of its work.' }),
      }),
    ),
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
