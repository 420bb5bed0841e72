import { Type } from '@sinclair/typebox';

import { parseCommandId } from '../../../kernel/streams/command-id.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import type { Rulesets } from '../rulesets.js';
import { rulesetFold } from '../ruleset-fold.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { deleteRuleset, registerRuleset } from '../domain/decide.js';
import { normaliseRuleset } from '../domain/normalise.js';
import { findPreset, presetIds } from '../domain/presets.js';
import { latestRuleset } from '../domain/state.js';
import type { RulesetContent } from '../domain/ruleset.js';
import { warningsOf } from '../domain/warnings.js';
import { derivedUuid } from '../../../kernel/crypto/uuid.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { rulesetStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { rulesets as rulesetRows } from '../../../../projections/rulesets.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { answerList } from '../../../kernel/http/list-answer.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { RulesBody } from '../body-schemas.js';
import { ClientId, openObject } from '../../../kernel/http/schemas.js';
import { defined } from '../../../kernel/base/defined.js';

const orNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()]);
const StoredSet = Type.Object({
  rulesetId: Type.String(),
  rulesetRules: Type.Array(
    openObject({
      drRuleId: Type.String(),
      ruleName: Type.String(),
      ruleCondition: Type.Array(Type.Array(Type.String())),
      ruleAction: Type.String(),
      ruleReason: Type.String(),
      ruleTarget: orNull(Type.String()),
      rulePriority: Type.Integer(),
      ruleObsPattern: orNull(Type.String()),
      rulePromptSuffix: orNull(Type.String()),
    }),
  ),
  template: orNull(Type.String()),
  version: Type.Integer(),
});
const RegisteredSet = openObject({
  ...StoredSet.properties,
  warnings: Type.Array(Type.Object({ drRuleId: Type.String(), message: Type.String() }), {
    description: 'Rules that look as if they decide something but will not.',
  }),
});
const RulesetParams = Type.Object({ rulesetId: ClientId });

const common = { tag: 'Rules', scope: 'rules' } as const;

type RuleRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly rulesets: Rulesets;
  readonly rulesRegistration: boolean;
};

/** `/rules` and its presets. */
export const ruleRoutes = (services: RuleRouteDeps): readonly RouteDefinition[] => {
  const { ports, writers, rulesets, rulesRegistration } = services;

  const register = async (call: Call, content: RulesetContent) => {
    const stream = rulesetStream(call.principal.tenant, content.rulesetId);
    const outcome = await runCommand({ ...ports, writers }, stream, rulesetFold, contextOf(call), (state) =>
      registerRuleset(state, content),
    );
    const stored = outcome.events.find(({ type }) => type === 'RulesetRegistered')?.data;
    return { position: outcome.position, body: { ...stored, warnings: warningsOf(content.rulesetRules) } };
  };

  return [
    route('POST', '/rules', {
      ...common,
      operationId: 'registerRules',
      summary: 'Register a rule set; registering an id again makes a new version',
      shortForbidden: true,
      forbids: () =>
        rulesRegistration
          ? null
          : new Rejection('FORBIDDEN', {
              message: 'This server does not accept new rules: registration is switched off.',
            }),
      body: RulesBody,
      writesTo: ({ principal, body }) => {
        const rulesetId = body.rulesetId ?? body.id;
        return typeof rulesetId === 'string' ? rulesetStream(principal.tenant, rulesetId) : undefined;
      },
      responses: ok('The stored set, and warnings.', RegisteredSet),
      handler: async (call) => {
        const makeId = () => `rs-${derivedUuid(parseCommandId(call.commandId).timeMs, `ruleset ${call.commandId}`)}`;
        const content = await inSlices(normaliseRuleset(call.body, makeId));
        if (content instanceof Rejection) throw content;
        return register(call, content);
      },
    }),
    route('GET', '/rules', {
      ...common,
      operationId: 'listRules',
      summary: 'Every rule set of the studio, latest versions',
      query: Type.Object(pageQuery),
      responses: { 200: { description: 'The sets, by id.', schema: Type.Array(StoredSet), stream: 'finite' } },
      handler: async (call) => {
        const page = pageOf(call.query);
        await ports.readModels.reachedPosition(rulesetRows, call.wrote);
        return answerList(call, page, {
          readModels: ports.readModels,
          projection: rulesetRows,
          query: { partition: call.principal.tenant, direction: 'ascending' },
          show: (row) => {
            const { tenant: _, ...set } = row as JsonObject;
            return set;
          },
        });
      },
    }),
    route('GET', '/rules/presets', {
      ...common,
      operationId: 'listPresets',
      summary: 'The names of the built-in sets',
      responses: ok('The names.', Type.Array(Type.String())),
      handler: () => ({ body: presetIds() }),
    }),
    route('POST', '/rules/presets/:presetId', {
      ...common,
      operationId: 'registerPreset',
      summary: "Register a built-in set under its own name; `default` becomes the studio's default",
      params: Type.Object({ presetId: Type.String() }),
      writesTo: ({ principal, params }) => {
        const found = findPreset(params.presetId);
        return found === null ? undefined : rulesetStream(principal.tenant, found.rulesetId);
      },
      body: Type.Object({}),
      responses: ok('The stored set, and warnings.', RegisteredSet),
      handler: (call) => {
        const { presetId } = call.params;
        const content = findPreset(presetId);
        if (content === null) throw new Rejection('PRESET_NOT_FOUND', { details: { presetId, presets: presetIds() } });
        return register(call, content);
      },
    }),
    route('GET', '/rules/:rulesetId', {
      ...common,
      operationId: 'getRules',
      summary: 'One rule set, in the latest or the requested version',
      ext: true,
      params: RulesetParams,
      query: Type.Object({ version: Type.Optional(Type.Integer({ minimum: 1 })) }),
      responses: ok('The set.', StoredSet),
      handler: async (call) => {
        const { rulesetId } = call.params;
        const { version } = call.query;
        const { tenant } = call.principal;
        const { state } = await writers.current(rulesetStream(tenant, rulesetId), rulesetFold);
        const found =
          version === undefined ? latestRuleset(state) : await rulesets.version(tenant, { rulesetId, version });
        if (found === null)
          throw new Rejection('RULESET_NOT_FOUND', {
            details: { rulesetId, ...defined({ version }) },
          });
        return { body: found };
      },
    }),
    route('DELETE', '/rules/:rulesetId', {
      ...common,
      operationId: 'deleteRules',
      summary: 'Delete a rule set; open turns keep the version they began with',
      params: RulesetParams,
      responses: ok('Deleted.', Type.Object({ rulesetId: Type.String(), deleted: Type.Literal(true) })),
      handler: async (call) => {
        const { rulesetId } = call.params;
        const { position } = await runCommand(
          { ...ports, writers },
          rulesetStream(call.principal.tenant, rulesetId),
          rulesetFold,
          contextOf(call),
          (state) => deleteRuleset(state, rulesetId),
        );
        return { position, body: { rulesetId, deleted: true } };
      },
    }),
  ];
};
