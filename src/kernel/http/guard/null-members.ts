import type { TSchema } from '@sinclair/typebox';

/** Removes, in place, members that count as absent; does not change values that do not have the shape of the schema. */
export type DropNulls = (value: unknown) => void;

type SchemaNode = {
  readonly [keyword: string]: unknown;
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode | readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const all = (drops: readonly (DropNulls | null)[]): DropNulls | null => {
  const some = drops.filter((drop) => drop !== null);
  if (some.length <= 1) return some[0] ?? null;
  return (value) => {
    for (const drop of some) drop(value);
  };
};

const ofObject = (node: SchemaNode): DropNulls | null => {
  const members = Object.entries(node.properties ?? {}).map(([name, schema]) => ({
    name,
    optional: !(node.required ?? []).includes(name),
    inside: ofNode(schema),
  }));
  if (!members.some(({ optional, inside }) => optional || inside !== null)) return null;
  return (value) => {
    if (!isRecord(value)) return;
    for (const { name, optional, inside } of members) {
      if (!Object.hasOwn(value, name)) continue;
      if (value[name] !== null) inside?.(value[name]);
      // The name comes from the schema, never from the request.
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
      else if (optional) delete value[name];
    }
  };
};

const ofArray = (items: SchemaNode): DropNulls | null => {
  const inside = ofNode(items);
  if (inside === null) return null;
  return (value) => {
    if (Array.isArray(value)) for (const item of value) inside(item);
  };
};

/** Only one alternative may be an object or an array; with several it is unclear which one the value is meant to be. */
const ofAlternatives = (nodes: readonly SchemaNode[]): DropNulls | null => {
  const drops = nodes.map(ofNode).filter((drop) => drop !== null);
  return drops.length === 1 ? (drops[0] ?? null) : null;
};

const ofNode = (node: SchemaNode): DropNulls | null => {
  if (node.anyOf !== undefined) return ofAlternatives(node.anyOf);
  if (node.allOf !== undefined) return all(node.allOf.map(ofNode));
  if (node.properties !== undefined) return ofObject(node);
  if (node.items !== undefined && !Array.isArray(node.items)) return ofArray(node.items as SchemaNode);
  return null;
};

/**
 * `null` in an optional member that the schema names counts as absent; free-form JSON below it is not changed.
 * @returns null when the schema names no optional member
 */
export const compileDropNulls = (schema: TSchema): DropNulls | null => ofNode(schema);

/** Keywords that reject `null` even if the list of types allows it. */
const closed = ['const', 'enum', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref'];

/** The same schema that also allows `null`. */
const orNull = (node: SchemaNode): SchemaNode => {
  if (Array.isArray(node['enum']) && node['enum'].includes(null)) return node;
  const isClosed = closed.some((keyword) => node[keyword] !== undefined);
  if (isClosed) return { anyOf: [node, { type: 'null' }] };
  if (node.type === undefined) return node;
  const types: readonly unknown[] = Array.isArray(node.type) ? (node.type as readonly unknown[]) : [node.type];
  return types.includes('null') ? node : { ...node, type: [...types, 'null'] };
};

const openMember = (node: SchemaNode, name: string, schema: SchemaNode): SchemaNode => {
  const inside = openNode(schema);
  return (node.required ?? []).includes(name) ? inside : orNull(inside);
};

const openNode = (node: SchemaNode): SchemaNode => {
  if (ofNode(node) === null) return node;
  if (node.anyOf !== undefined) return { ...node, anyOf: node.anyOf.map(openNode) };
  if (node.allOf !== undefined) return { ...node, allOf: node.allOf.map(openNode) };
  if (node.properties !== undefined) {
    const members = Object.entries(node.properties).map(([name, schema]) => [name, openMember(node, name, schema)]);
    return { ...node, properties: Object.fromEntries(members) as Record<string, SchemaNode> };
  }
  return { ...node, items: openNode(node.items as SchemaNode) };
};

/** The schema as clients see it: optional members may be `null` exactly where `compileDropNulls` removes it. */
export const withNullMembers = (schema: TSchema): TSchema => openNode(schema) as unknown as TSchema;
