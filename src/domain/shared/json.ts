import canonicalize from 'canonicalize';

/** A JSON value (RFC 8259). Every event, state and answer in Anima is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The canonical text of a JSON value (JCS, RFC 8785): what is hashed, signed and compared.
 * @throws Error on what I-JSON cannot hold (non-finite numbers, lone surrogates); the HTTP guard refuses such bodies first.
 */
export const jcs = (value: Json): string => canonicalize(value) as string;
