import type { TSchema } from '@sinclair/typebox';

const NAME = Symbol('name of a schema');
const DOCUMENTED = Symbol('schema as documented');

type Marks = {
  readonly [NAME]?: { readonly name: string; readonly schema: TSchema };
  readonly [DOCUMENTED]?: TSchema;
};

/**
 * Names a schema in the product's terms: the OpenAPI document contains it once, under `components/schemas`. The name is a symbol, so it survives a
 * copy with other options, and no validator sees it.
 */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema => ({
  ...schema,
  [NAME]: { name, schema },
});

/** The schema that checks requests, with another one that describes it to humans and generators. */
export const documentedAs = <Schema extends TSchema>(documented: TSchema, schema: Schema): Schema => ({
  ...schema,
  [DOCUMENTED]: documented,
});

/** The name of a schema node, and the schema that it names. */
export const nameOf = (node: object): { readonly name: string; readonly schema: TSchema } | undefined =>
  (node as Marks)[NAME];

/** The schema that replaces a schema node in the document. */
export const documentedOf = (node: object): TSchema | undefined => (node as Marks)[DOCUMENTED];
