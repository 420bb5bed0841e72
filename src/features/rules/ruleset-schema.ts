import { Components, type Doc } from '../../kernel/http/openapi/components.js';
import { RulesBody } from './body-schemas.js';
import { KNOWN_MEMBERS } from './domain/members.js';

/** The members that registration accepts without looking at them, because its response has them. */
const UNREAD: Readonly<Record<string, string>> = {
  version: 'Made by the server.',
  warnings: 'Made by the server.',
  observationChars: 'Made by the server.',
  ruleDescription: 'Of a rule that was registered in the short form.',
  ruleActionTypes: 'Of a rule that was registered in the short form.',
};

const withUnread = (doc: Doc, known: readonly string[]): Doc => {
  const read = doc['properties'] as Doc;
  const unread = known.filter((name) => !Object.hasOwn(read, name) && Object.hasOwn(UNREAD, name));
  return {
    ...doc,
    properties: { ...read, ...Object.fromEntries(unread.map((name) => [name, { description: UNREAD[name] }])) },
  };
};

const isDoc = (value: unknown): value is Doc => typeof value === 'object' && value !== null && !Array.isArray(value);

/** References to `$defs`, and objects that have no other members than theirs. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed);
  if (!isDoc(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  if (typeof copy['$ref'] === 'string')
    return { ...copy, $ref: copy['$ref'].replace('#/components/schemas/', '#/$defs/') };
  // Of a schema named `properties`, the values are schemas.
  return isDoc(copy['properties']) && copy['type'] === 'object' && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
};

const makeSchema = (): Doc => {
  const components = new Components();
  const { $ref: _, ...top } = components.request(RulesBody);
  const { RegisterRulesRequest: set, RegisteredRule: rule, ...others } = components.schemas as Record<string, Doc>;
  if (set === undefined || rule === undefined || Object.keys(top).length > 0)
    throw new Error('the schema of a set has another form');
  const $defs = { ...others, RegisteredRule: withUnread(rule, KNOWN_MEMBERS.rule) };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:anima:ruleset:2',
    title: 'A ruleset, as POST /rules takes it',
    ...(closed({ ...withUnread(set, KNOWN_MEMBERS.set), $defs }) as Doc),
  };
};

/** The JSON Schema of a ruleset, made from the schema that checks requests. Published as docs/reference/ruleset.schema.json. */
export const rulesetSchema: Doc = makeSchema();
