import type { Json } from '../../../../kernel/base/json.js';

/** The types of values that a schema can require. */
export const payloadTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean'] as const;
export type PayloadType = (typeof payloadTypes)[number];

/** The part of JSON Schema (2020-12) that describes payloads. Its keywords mean the same. It has no patterns and no references, so checks are cheap. */
export type PayloadSchema = {
  readonly type?: PayloadType;
  readonly description?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: Readonly<Record<string, PayloadSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: PayloadSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
};

/** The limit of a schema, and of a payload that has one, in bytes of JSON. */
export const PAYLOAD_BYTES = 4_096;
/** How many schemas one payload may have, how deep they may be, and how many values one may list. */
export const PAYLOAD_SCHEMAS = 64;
export const PAYLOAD_LEVELS = 6;
export const PAYLOAD_VALUES = 64;

/** The schema of a member of an object; undefined if the schema does not name it. */
export const propertyOf = ({ properties = {} }: PayloadSchema, name: string): PayloadSchema | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;
