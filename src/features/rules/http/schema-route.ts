import { Type } from '@sinclair/typebox';

import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { rulesetSchema } from '../ruleset-schema.js';
import { ruleExamples as examples } from './examples.js';

const RuleSetSchema = named(
  'RuleSetSchema',
  Type.Unsafe({ type: 'object', additionalProperties: true, description: 'A JSON Schema (draft 2020-12).' }),
);

/** `GET /schemas/ruleset`. Editors send no key. */
export const rulesetSchemaRoute = route('GET', '/schemas/ruleset', {
  operationId: 'ruleSetSchema',
  tag: 'Rules',
  summary: 'Get the JSON Schema of rule sets',
  description: 'For editors, which need no key.',
  scope: null,
  ext: true,
  responses: ok('The schema.', RuleSetSchema, examples.schema),
  handler: () => ({ body: rulesetSchema }),
}) satisfies RouteDefinition;
