import { tableField } from './markdown.js';

/** A JSON Schema, or a reference to one, as in the OpenAPI document. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping?: Readonly<Record<string, string>> };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-maxBytes'?: number;
};

/** The maximum length of a readable pattern, in characters. */
const READABLE = 24;

/** Makes the link to a named schema. */
export type LinkTo = (name: string) => string;

/** One member of an object, as the fields of a table. */
type Member = readonly [path: string, type: string, required: string, meaning: string];

export const nameIn = (reference: string): string => reference.split('/').pop() ?? reference;

const alternativesOf = ({ oneOf, anyOf }: Schema): readonly Schema[] => oneOf ?? anyOf ?? [];
const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
/** `string or null`: each type once, and null last. */
const list = (types: readonly string[]): string => {
  const others = types.map((type) => type.replace(/ or null$/, '')).filter((type) => type !== 'null');
  const allowsNull = types.some((type) => / or null$|^null$/.test(type));
  return [...new Set(others), ...(allowsNull ? ['null'] : [])].join(' or ');
};

/** `1 to 128 characters` */
const bounds = (least: number | undefined, most: number | undefined, unit: string): readonly string[] => {
  const format = (bound: number): string => bound.toLocaleString('en');
  if (least !== undefined && most !== undefined && least < most) return [`${format(least)} to ${format(most)}${unit}`];
  if (least !== undefined && most !== undefined) return [`${format(least)}${unit}`];
  if (most !== undefined) return [`at most ${format(most)}${unit}`];
  return least === undefined ? [] : [`at least ${format(least)}${unit}`];
};

/** The values of a map; undefined for an object with known members. */
const valuesOf = ({ additionalProperties, patternProperties = {} }: Schema): Schema | undefined => {
  const [value] = Object.values(patternProperties);
  return value ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
};

const oneType = (type: string, schema: Schema, link: LinkTo): string => {
  const { items = {}, format, pattern, minItems, maxItems, minimum, maximum, minLength, maxLength } = schema;
  const within = (...limits: readonly string[]): string => (limits.length === 0 ? '' : ` (${limits.join(', ')})`);
  if (type === 'array') {
    const item = typeOf(items, link);
    const of = / or |, /.test(item) ? `array of (${item})` : `array of ${item}`;
    return `${of}${within(...bounds(minItems, maxItems, ' items'))}`;
  }
  if (type === 'object') {
    const values = valuesOf(schema);
    return values === undefined ? 'object' : `map of ${typeOf(values, link)}`;
  }
  if (type !== 'string') return `${type}${within(...bounds(minimum, maximum, ''))}`;
  const limits = [
    ...(format === undefined ? [] : [format]),
    ...bounds(minLength, maxLength, ' characters'),
    ...bounds(undefined, schema['x-maxBytes'], ' bytes'),
    // A long pattern is useless in a table; the description says what it means.
    ...(pattern === undefined || pattern.length > READABLE ? [] : [`matches \`${pattern}\``]),
  ];
  return `${type}${within(...limits)}`;
};

/** The type of a value, in Markdown. */
export const typeOf = (schema: Schema, link: LinkTo): string => {
  if (schema.$ref !== undefined) return link(nameIn(schema.$ref));
  if ('const' in schema) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return list(alternatives.map((one) => typeOf(one, link)));
  const references = (schema.allOf ?? []).flatMap(({ $ref }) => ($ref === undefined ? [] : [link(nameIn($ref))]));
  if (references.length > 0) return references.join(' and ');
  const types = [
    schema.type ?? (schema.properties === undefined && schema.allOf === undefined ? 'any' : 'object'),
  ].flat();
  return list(types.map((type) => oneType(type, schema, link)));
};

/** The label of an alternative: the constant of its `type`, or its number. */
const labelOf = ({ properties = {} }: Schema, at: number): string => {
  const [label] = Object.values(properties).flatMap((member) =>
    typeof member.const === 'string' ? [member.const] : [],
  );
  return label ?? String(at + 1);
};

const hasMembers = (schema: Schema): boolean =>
  schema.properties !== undefined || (schema.allOf ?? []).some((part) => part.properties !== undefined);

/** The members of an inline schema; a referenced schema is described under its own name. */
export const membersOf = (schema: Schema, link: LinkTo, path = ''): readonly Member[] => {
  const { properties = {}, required = [], allOf = [], items } = schema;
  const prefix = path === '' ? '' : `${path}.`;
  const own = Object.entries(properties).flatMap(([name, member]): readonly Member[] => {
    const usual = member.default === undefined ? '' : ` Default: ${code(member.default)}.`;
    const meaning = `${member.description ?? ''}${usual}`.trim();
    return [
      [
        `\`${prefix}${name}\``,
        tableField(typeOf(member, link)),
        required.includes(name) ? 'yes' : 'no',
        tableField(meaning),
      ],
      ...membersOf(member, link, `${prefix}${name}`),
    ];
  });
  const values = valuesOf(schema);
  const withMembers = alternativesOf(schema).filter(hasMembers);
  return [
    ...own,
    ...allOf.flatMap((part) => membersOf(part, link, path)),
    ...(items === undefined ? [] : membersOf(items, link, `${path}[]`)),
    ...(values === undefined ? [] : membersOf(values, link, `${prefix}*`)),
    ...alternativesOf(schema)
      .filter((one) => !hasMembers(one))
      .flatMap((one) => membersOf(one, link, path)),
    ...withMembers.flatMap((one, at) =>
      membersOf(one, link, withMembers.length === 1 ? path : `${path}(${labelOf(one, at)})`),
    ),
  ];
};

/** The names of all schemas that a schema refers to, directly and through others. */
export const namesWithin = (
  schema: unknown,
  all: Readonly<Record<string, Schema>>,
  found = new Set<string>(),
): ReadonlySet<string> => {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key !== '$ref' || typeof value !== 'string') {
      if (key !== 'example' && key !== 'examples' && key !== 'mapping') namesWithin(value, all, found);
    } else if (!found.has(nameIn(value))) {
      found.add(nameIn(value));
      namesWithin(all[nameIn(value)], all, found);
    }
  }
  return found;
};
