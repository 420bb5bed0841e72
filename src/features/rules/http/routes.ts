import { Type } from '@sinclair/typebox';

import { parseCommandId } from '../../../kernel/streams/command-id.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import type { Rulesets } from '../rulesets.js';
import { rulesetFold } from '../ruleset-fold.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { checkRuleset } from '../check-ruleset.js';
import { ruleFindingKinds } from '../domain/analysis/findings.js';
import { deleteRuleset, registerRuleset } from '../domain/decide.js';
import { normaliseRuleset } from '../domain/normalise.js';
import { findPreset, presetIds } from '../domain/presets/presets.js';
import { grammarOf, type RulesetContent } from '../domain/ruleset.js';
import { warningsAbout } from '../domain/warnings.js';
import { derivedUuid } from '../../../kernel/crypto/uuid.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import { rulesetStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { rulesets as rulesetRows } from '../../../../projections/rulesets.js';
import { type Call, contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { answerTenantList } from '../../../kernel/http/list-answer.js';
import { pageQuery } from '../../../kernel/http/page.js';
import { askedVersion } from '../asked-version.js';
import {
  ActionDeclarationSchema,
  ContentDigest,
  OwnPromptSchema,
  RulesBody,
  StateRuleSchema,
} from '../body-schemas.js';
import { documentedAs, named } from '../../../kernel/http/named.js';
import { FreeObject, oneOf, pathClientId, pathId } from '../../../kernel/http/schemas.js';
import { ruleExamples as examples } from './examples.js';
import { rulesetSchemaRoute } from './schema-route.js';
import { rulesetVersionsRoute } from './version-routes.js';
import { defined } from '../../../kernel/base/defined.js';

const orNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()]);
const DirectiveRule = named(
  'DirectiveRule',
  Type.Object({
    drRuleId: Type.String(),
    ruleName: Type.String(),
    ruleCondition: Type.Array(Type.Array(Type.String()), { description: 'Pairs of a key and a value.' }),
    ruleAction: Type.String(),
    ruleReason: Type.String(),
    ruleTarget: orNull(Type.String()),
    rulePriority: Type.Integer(),
    ruleObsPattern: orNull(Type.String()),
    rulePromptSuffix: orNull(Type.String()),
    ruleDescription: Type.Optional(Type.String()),
    ruleActionTypes: Type.Optional(Type.Array(Type.String())),
    ruleOnBreak: Type.Optional(Type.Literal('replace')),
    ruleRefusal: Type.Optional(Type.String()),
  }),
);
const StoredSet = named(
  'DirectiveRuleSet',
  Type.Object({
    rulesetId: Type.String(),
    rulesetRules: Type.Array(DirectiveRule),
    template: orNull(Type.String()),
    grammar: Type.Unsafe<1 | 2>({ type: 'integer', enum: [1, 2] }),
    ruleRefusal: Type.Optional(Type.String()),
    ruleState: Type.Optional(Type.Array(StateRuleSchema)),
    actions: Type.Optional(Type.Array(ActionDeclarationSchema)),
    prompt: Type.Optional(OwnPromptSchema),
    observationChars: Type.Optional(
      Type.Integer({ description: 'How much of the observation the patterns search and the prompt shows.' }),
    ),
    version: Type.Integer(),
  }),
);
const RuleSetList = named('DirectiveRuleSetList', Type.Array(StoredSet));
const RuleWarningSchema = named('RuleWarning', Type.Object({ drRuleId: Type.String(), message: Type.String() }));
const RegisteredSet = named(
  'RegisteredRuleSet',
  Type.Intersect([
    StoredSet,
    Type.Object({
      warnings: Type.Array(RuleWarningSchema, {
        description: 'Rules that look as if they had an effect, but have none.',
      }),
    }),
  ]),
);
const RuleSetCheck = named(
  'RuleSetCheck',
  Type.Object({
    grammar: Type.Unsafe<1 | 2>({ type: 'integer', enum: [1, 2] }),
    code: Type.Optional(Type.String({ description: 'The code with which `POST /rules` would refuse the set.' })),
    problems: Type.Array(
      named(
        'RuleSetProblem',
        Type.Object({
          drRuleId: Type.String(),
          pointer: Type.String({ description: 'The JSON Pointer of the member in the set.' }),
          message: Type.String(),
          meant: Type.Optional(Type.String({ description: 'What was probably meant.' })),
        }),
      ),
    ),
    problemsLeftOut: Type.Optional(Type.Integer()),
    warnings: Type.Array(RuleWarningSchema),
    findings: Type.Array(
      named(
        'RuleFinding',
        Type.Object({
          kind: oneOf(ruleFindingKinds),
          drRuleIds: Type.Array(Type.String(), {
            description: 'The rule that it is about, and the one that it meets.',
          }),
          message: Type.String(),
          meant: Type.Optional(Type.String({ description: 'What was probably meant.' })),
        }),
      ),
      { description: 'Rules that cannot do what they say.' },
    ),
    findingsLeftOut: Type.Optional(Type.Integer()),
    judged: Type.Integer({ description: 'How many rules were judged for findings.' }),
    notJudged: Type.Array(Type.Object({ drRuleId: Type.String(), reason: Type.String() })),
  }),
);
/** Any object, because a wrong member is what is asked about. */
const CheckRulesBody = documentedAs(RulesBody, FreeObject);
const PresetList = named('PresetList', Type.Array(Type.String()));
const RegisterPresetRequest = named('RegisterPresetRequest', Type.Object({}));
const DeletedRuleSet = named('DeletedRuleSet', Type.Object({ rulesetId: Type.String(), deleted: Type.Literal(true) }));
const RulesetParams = Type.Object({ rulesetId: pathClientId('The id of the rule set.', 'tavern') });

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

  /** @param sent the set as it was sent, whose members are looked at */
  const register = async (call: Call, content: RulesetContent, sent: JsonObject = {}) => {
    const stream = rulesetStream(call.principal.tenant, content.rulesetId);
    const outcome = await runCommand({ ...ports, writers }, stream, rulesetFold, contextOf(call), (state) =>
      registerRuleset(state, content),
    );
    const stored = outcome.events.find(({ type }) => type === 'RulesetRegistered')?.data;
    const warnings = await inSlices(warningsAbout(sent, content));
    return { position: outcome.position, body: { ...stored, grammar: grammarOf(content), warnings } };
  };

  return [
    route('POST', '/rules', {
      ...common,
      operationId: 'registerRules',
      summary: 'Register a rule set',
      description: 'Registering an id again makes a new version.',
      shortForbidden: true,
      forbids: () =>
        rulesRegistration
          ? null
          : new Rejection('FORBIDDEN', {
              message: 'This server does not accept new rules: registration is disabled.',
            }),
      body: RulesBody,
      writesTo: ({ principal, body }) => {
        const rulesetId = body.rulesetId ?? body.id;
        return typeof rulesetId === 'string' ? rulesetStream(principal.tenant, rulesetId) : undefined;
      },
      example: examples.register,
      refuses: [
        ...['CONFLICT', 'EVENTS_TOO_LARGE', 'PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULES_INVALID'],
        ...['RULESET_TOO_LARGE', 'TEMPLATE_INVALID'],
      ] as readonly RejectionCode[],
      responses: ok('The stored set, with warnings.', RegisteredSet, examples.registered),
      handler: async (call) => {
        const makeId = () => `rs-${derivedUuid(parseCommandId(call.commandId).timeMs, `ruleset ${call.commandId}`)}`;
        const content = await inSlices(normaliseRuleset(call.body, makeId));
        if (content instanceof Rejection) throw content;
        return register(call, content, call.body);
      },
    }),
    route('POST', '/rules/check', {
      ...common,
      operationId: 'checkRules',
      summary: 'Check a rule set without registering it',
      description: 'Says what `POST /rules` would refuse or warn of, and which rules can never do what they say.',
      ext: true,
      retention: 'never',
      body: CheckRulesBody,
      example: examples.register,
      responses: ok('What was found. Nothing is stored.', RuleSetCheck, examples.check),
      handler: async (call) => ({ body: await inSlices(checkRuleset(call.body)) }),
    }),
    route('GET', '/rules', {
      ...common,
      operationId: 'listRules',
      summary: 'List rule sets',
      description: 'In their latest versions.',
      query: Type.Object(pageQuery),
      responses: {
        200: { description: 'The sets, ordered by id.', schema: RuleSetList, example: examples.list, stream: 'finite' },
      },
      handler: (call) =>
        answerTenantList(call, ports.readModels, {
          projection: rulesetRows,
          query: { direction: 'ascending' },
          show: (row) => {
            const { tenant: _, ...set } = row as JsonObject;
            return { ...set, grammar: set['grammar'] ?? 1 };
          },
        }),
    }),
    route('GET', '/rules/presets', {
      ...common,
      operationId: 'listPresets',
      summary: 'List presets',
      description: 'Presets are built-in rule sets.',
      responses: ok('The names of the presets.', PresetList, examples.presets),
      handler: () => ({ body: presetIds() }),
    }),
    route('POST', '/rules/presets/:presetId', {
      ...common,
      operationId: 'registerPreset',
      summary: 'Register a preset',
      description: "It is registered under its own name. `default` becomes the tenant's default.",
      params: Type.Object({ presetId: pathId('The name of the preset.', 'default') }),
      writesTo: ({ principal, params }) => {
        const found = findPreset(params.presetId);
        return found === null ? undefined : rulesetStream(principal.tenant, found.rulesetId);
      },
      body: RegisterPresetRequest,
      example: {},
      refuses: ['PRESET_NOT_FOUND', 'CONFLICT'],
      responses: ok('The stored set, with warnings.', RegisteredSet, examples.preset),
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
      summary: 'Get a rule set',
      ext: true,
      params: RulesetParams,
      query: Type.Object({
        version: Type.Optional(
          Type.Integer({
            minimum: 0,
            description:
              'The latest version by default; 0 is the preset of this name, whether or not it is registered.',
          }),
        ),
        digest: Type.Optional(ContentDigest),
      }),
      refuses: ['RULESET_NOT_FOUND'],
      responses: ok('The set.', StoredSet, examples.set),
      handler: async (call) => {
        const { rulesetId } = call.params;
        const { version, digest } = call.query;
        const { tenant } = call.principal;
        const asked = askedVersion(rulesetId, call.query);
        const found = await (asked === null ? rulesets.latest(tenant, rulesetId) : rulesets.asked(tenant, asked));
        if (found === null)
          throw new Rejection('RULESET_NOT_FOUND', {
            details: { rulesetId, ...defined({ version, digest }) },
          });
        return { body: { ...found, grammar: grammarOf(found) } };
      },
    }),
    rulesetVersionsRoute(services),
    rulesetSchemaRoute,
    route('DELETE', '/rules/:rulesetId', {
      ...common,
      operationId: 'deleteRules',
      summary: 'Delete a rule set',
      description: 'Open turns keep the version with which they began.',
      params: RulesetParams,
      refuses: ['RULESET_NOT_FOUND', 'CONFLICT'],
      responses: ok('The set is deleted.', DeletedRuleSet, examples.deleted),
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
