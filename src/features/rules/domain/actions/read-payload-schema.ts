import { isObject, type Json, jsonBytes, type JsonObject, sizeAtMost } from '../../../../kernel/base/json.js';
import { nearestAmong, nearestName } from '../../../../kernel/base/nearest.js';
import { type Problem, problem, shownText } from '../conditions/problem.js';
import { schemaProblem } from './check-payload.js';
import {
  PAYLOAD_VALUES,
  PAYLOAD_BYTES,
  PAYLOAD_LEVELS,
  PAYLOAD_SCHEMAS,
  type PayloadSchema,
  type PayloadType,
  payloadTypes,
} from './payload-schema.js';
import { shortPointerPart } from '../../../../kernel/base/json-pointer.js';

/** A problem, and the JSON Pointer (RFC 6901) of what it is about. */
export type PlacedProblem = Problem & { readonly pointer: string };

/** How much of a name a pointer shows, in UTF-16 units. */
export const SHOWN_NAME_CHARS = 64;
/** How many problems of one schema are listed. */
const MOST_PROBLEMS = 20;

/** Which values a keyword limits; null for those that limit every value, or none. */
const KEYWORDS = {
  type: null,
  description: null,
  enum: null,
  const: null,
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
  minLength: 'string',
  maxLength: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
} as const satisfies Record<string, PayloadType | null>;
type Keyword = keyof typeof KEYWORDS;
const NAMES = Object.keys(KEYWORDS) as readonly Keyword[];
const isKeyword = (name: string): name is Keyword => Object.hasOwn(KEYWORDS, name);

/** Other words for keywords and types. */
const OTHER_KEYWORDS = new Map<string, Keyword>([
  ...(['min', 'gte', 'least'] as const).map((word) => [word, 'minimum'] as const),
  ...(['max', 'lte', 'most'] as const).map((word) => [word, 'maximum'] as const),
  ...(['values', 'oneOf', 'anyOf', 'options'] as const).map((word) => [word, 'enum'] as const),
  ...(['members', 'fields'] as const).map((word) => [word, 'properties'] as const),
  ['value', 'const'],
]);
const OTHER_TYPES = new Map<string, PayloadType>([
  ...(['text', 'str', 'char'] as const).map((word) => [word, 'string'] as const),
  ...(['int', 'whole', 'long'] as const).map((word) => [word, 'integer'] as const),
  ...(['float', 'double', 'decimal'] as const).map((word) => [word, 'number'] as const),
  ...(['list', 'tuple'] as const).map((word) => [word, 'array'] as const),
  ...(['map', 'dict', 'record'] as const).map((word) => [word, 'object'] as const),
  ['bool', 'boolean'],
]);

const isScalar = (value: Json): boolean => value !== null && typeof value !== 'object';
const isType = (value: Json): value is PayloadType => (payloadTypes as readonly Json[]).includes(value);

const typeProblem = (value: Json): Problem | null => {
  if (isType(value)) return null;
  const known = payloadTypes.map((type) => JSON.stringify(type)).join(', ');
  if (typeof value !== 'string') return problem(`Must be one of ${known}.`);
  return problem(`Must be one of ${known}.`, OTHER_TYPES.get(value.toLowerCase()) ?? nearestName(value, payloadTypes));
};

const aLength = (value: Json): Problem | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? null
    : problem('Must be a whole number that is not negative.');

const aNumber = (value: Json): Problem | null =>
  typeof value === 'number' ? null : problem(`Must be a number, not ${shownText(JSON.stringify(value))}.`);

const namesProblem = (value: Json): Problem | null =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')
    ? null
    : problem('Must list the names of members that have to be there.');

const checks: Readonly<Record<Keyword, (value: Json) => Problem | null>> = {
  type: typeProblem,
  description: (value) => (typeof value === 'string' ? null : problem('Must be a text.')),
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= PAYLOAD_VALUES && value.every(isScalar)
      ? null
      : problem(`Must list 1 to ${PAYLOAD_VALUES} texts, numbers or booleans.`),
  const: (value) => (isScalar(value) ? null : problem('Must be a text, a number or a boolean.')),
  properties: (value) => (isObject(value) ? null : problem('Must be an object with a schema for each member.')),
  required: namesProblem,
  additionalProperties: (value) => (typeof value === 'boolean' ? null : problem('Must be true or false.')),
  items: (value) => (isObject(value) ? null : problem('Must be the schema of the elements.')),
  minItems: aLength,
  maxItems: aLength,
  minLength: aLength,
  maxLength: aLength,
  minimum: aNumber,
  maximum: aNumber,
  exclusiveMinimum: aNumber,
  exclusiveMaximum: aNumber,
};

const unknownKeyword = (name: string, { nearest }: Count): Problem => {
  const meant = OTHER_KEYWORDS.get(name) ?? nearest(name);
  return problem(`There is no keyword ${shownText(name)} for payloads.`, meant);
};

const limits = (keyword: Keyword, type: PayloadType): boolean => {
  const of = KEYWORDS[keyword];
  return of === null || of === type || (of === 'number' && type === 'integer');
};

/** What keywords say together, if each of them can be read. */
const misfits = (schema: PayloadSchema): readonly PlacedProblem[] => {
  const { type } = schema;
  const given = NAMES.filter((name) => Object.hasOwn(schema, name) && KEYWORDS[name] !== null);
  const [first] = given;
  if (type === undefined && first !== undefined) {
    const needed = KEYWORDS[first] ?? '';
    return [{ pointer: '/type', ...problem(`${first} limits nothing unless the type is given.`, needed) }];
  }
  if (type !== undefined) {
    const wrong = given.find((name) => !limits(name, type));
    if (wrong !== undefined)
      return [{ pointer: `/${wrong}`, message: `${wrong} does not limit values of the type ${type}.` }];
  }
  return [...emptyRanges(schema), ...impossibleValues(schema), ...unknownRequired(schema)];
};

const emptyRanges = (schema: PayloadSchema): readonly PlacedProblem[] => {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const isEmpty =
    minimum > maximum ||
    exclusiveMinimum >= exclusiveMaximum ||
    minimum >= exclusiveMaximum ||
    exclusiveMinimum >= maximum ||
    (schema.type === 'integer' &&
      Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1) >
        Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1));
  const { minLength = 0, maxLength = Infinity, minItems = 0, maxItems = Infinity } = schema;
  return isEmpty || minLength > maxLength || minItems > maxItems
    ? [{ pointer: '', message: 'The least is above the most, so no value is allowed.' }]
    : [];
};

/** Listed values that break the other keywords. */
const impossibleValues = ({ enum: listed, const: only, ...rest }: PayloadSchema): readonly PlacedProblem[] => {
  const wrong = listed?.findIndex((value) => schemaProblem(value, rest) !== null) ?? -1;
  return [
    ...(wrong === -1
      ? []
      : [{ pointer: `/enum/${wrong}`, message: 'The rest of the schema does not allow this value.' }]),
    ...(only === undefined ||
    schemaProblem(only, { ...rest, ...(listed === undefined ? {} : { enum: listed }) }) === null
      ? []
      : [{ pointer: '/const', message: 'The rest of the schema does not allow this value.' }]),
  ];
};

const unknownRequired = ({ required = [], properties = {} }: PayloadSchema): readonly PlacedProblem[] =>
  required.flatMap((name, index) =>
    Object.hasOwn(properties, name)
      ? []
      : [
          {
            pointer: `/required/${index}`,
            ...problem(`properties does not name ${shownText(name)}.`, nearestName(name, Object.keys(properties))),
          },
        ],
  );

/** What bounds the work: the schemas so far, and the comparison of unknown keywords. */
type Count = { schemas: number; readonly nearest: (name: string) => string | undefined };

const placedAt = (at: string, problems: readonly PlacedProblem[]): readonly PlacedProblem[] =>
  problems.map((one) => ({ ...one, pointer: `${at}${one.pointer}` }));

const innerProblems = (body: JsonObject, level: number, count: Count): readonly PlacedProblem[] => {
  const { properties, items } = body as { readonly properties?: Json; readonly items?: Json };
  const members = isObject(properties)
    ? Object.entries<Json>(properties).flatMap(([name, member]) =>
        placedAt(`/properties/${shortPointerPart(name, SHOWN_NAME_CHARS)}`, problemsIn(member, level + 1, count)),
      )
    : [];
  return isObject(items) ? [...members, ...placedAt('/items', problemsIn(items, level + 1, count))] : members;
};

const problemsIn = (body: Json, level: number, count: Count): readonly PlacedProblem[] => {
  if (!isObject(body)) {
    const isName = typeof body === 'string' && typeProblem(body) === null;
    return [{ pointer: '', ...problem('Must be a schema.', isName ? JSON.stringify({ type: body }) : undefined) }];
  }
  if (level > PAYLOAD_LEVELS) return [{ pointer: '', message: `Must have at most ${PAYLOAD_LEVELS} levels.` }];
  count.schemas += 1;
  if (count.schemas > PAYLOAD_SCHEMAS) return [];
  const own = Object.entries<Json>(body).flatMap(([name, value]): readonly PlacedProblem[] => {
    const found = isKeyword(name) ? checks[name](value) : unknownKeyword(name, count);
    return found === null ? [] : [{ pointer: `/${shortPointerPart(name, SHOWN_NAME_CHARS)}`, ...found }];
  });
  const inner = innerProblems(body, level, count);
  return own.length > 0 ? [...own, ...inner] : [...misfits(body), ...inner];
};

/** What is wrong with the schema of a payload. */
export const payloadSchemaProblems = (body: Json): readonly PlacedProblem[] => {
  if (!isObject(body)) return [{ pointer: '', message: 'Must be a schema of the type "object".' }];
  if (sizeAtMost(body, PAYLOAD_BYTES).values > PAYLOAD_BYTES || jsonBytes(body) > PAYLOAD_BYTES)
    return [{ pointer: '', message: `Must have at most ${PAYLOAD_BYTES} bytes of JSON.` }];
  if (!NAMES.some((name) => Object.hasOwn(body, name)) && Object.keys(body).length > 0)
    return [
      {
        pointer: '',
        message:
          'Must be a schema: {"type": "object", "properties": {…}}. The members of the payload are in properties.',
      },
    ];
  const { type = null } = body as { readonly type?: Json };
  if (type !== 'object') return [{ pointer: '/type', ...problem('A payload is an object.', 'object') }];
  const count: Count = { schemas: 0, nearest: nearestAmong(NAMES, MOST_PROBLEMS) };
  const problems = problemsIn(body, 1, count);
  const many = { pointer: '', message: `Must have at most ${PAYLOAD_SCHEMAS} schemas.` };
  return count.schemas > PAYLOAD_SCHEMAS ? [many] : problems.slice(0, MOST_PROBLEMS);
};
