import { type Static, type TProperties, Type, type TSchema } from '@sinclair/typebox';

import type { Json } from '../base/json.js';

/** An id in a body that a client chooses. An invalid one is refused as ID_INVALID. */
export const ClientId = Type.String({
  format: 'client-id',
  description: '1 to 128 printable Unicode characters without "/", NFC; not "." or "..".',
});

/** The keyword that bounds a text in bytes of UTF-8; JSON Schema itself counts characters. */
export const MAX_BYTES = 'x-maxBytes';

/** Any JSON value; the server does not interpret it. */
export const AnyJson = Type.Unsafe<Json>({ description: 'Any JSON value.' });

/** An object with any members; the server does not interpret it. */
export const FreeObject = Type.Unsafe<{ readonly [name: string]: Json }>({
  type: 'object',
  additionalProperties: true,
});

/** An object that has these members, and may have others. */
export const openObject = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: true });

/** One of several values. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] });

/** An optional member for which `null` counts as absent. It is one list of types instead of a union, so that a mismatch gives one message. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as { type?: string }).type, 'null'] }));

/** An id of this server, in a path. */
export const pathId = (description: string, example: string) => Type.String({ description, examples: [example] });

/** An id that clients choose, in a path. */
export const pathClientId = (description: string, example: string) =>
  Type.String({
    format: 'client-id',
    description: `${description} ${ClientId.description ?? ''}`,
    examples: [example],
  });

const npcId = pathClientId('The id of the NPC.', 'mira');
/** The path parameters of what belongs to one NPC. */
export const NpcParams = Type.Object({ npcId });
export const AgentParams = Type.Object({ agentId: pathClientId('The id of the NPC.', 'mira') });
export const TurnParams = Type.Object({
  npcId,
  turnId: pathId('The id of the turn, from the tape.', 't0_mwzc2plu_ec8YARhP57I4Qu2t'),
});
