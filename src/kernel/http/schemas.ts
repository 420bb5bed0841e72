import { type Static, type TProperties, Type, type TSchema } from '@sinclair/typebox';

import type { Json } from '../base/json.js';

/** An id in a body that a client chooses. An invalid one is refused as ID_INVALID. */
export const ClientId = Type.String({
  format: 'client-id',
  description: '1 to 128 printable Unicode characters without "/", NFC; not "." or "..".',
});

/** The detailed shape, which every error has except the 403 of `POST /rules`. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'A stable upper-snake word; `GET /docs/errors` lists all codes.' }),
      message: Type.String({ description: 'A sentence that says what to do.' }),
      details: Type.Record(Type.String(), Type.Unknown()),
      requestId: Type.String(),
    }),
  },
  { $id: 'Error' },
);

/** The short shape of every 403 of `POST /rules`. */
export const ShortError = Type.Object({ error: Type.String() }, { $id: 'ShortError' });

/** The keyword that bounds a text in bytes of UTF-8; JSON Schema itself counts characters. */
export const MAX_BYTES = 'x-maxBytes';

/** Any JSON value: nothing in it is looked at. */
export const AnyJson = Type.Unsafe<Json>({ description: 'Any JSON value.' });

/** An object of any members: nothing in it is looked at. */
export const FreeObject = Type.Unsafe<{ readonly [name: string]: Json }>({ type: 'object' });

/** An object that has these members, and may have others. */
export const openObject = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: true });

/** One of a few words. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] });

/** An optional member for which `null` counts as absent. It is one list of types instead of a union, so that a mismatch gives one message. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as { type?: string }).type, 'null'] }));

/** The path parameters of what belongs to one NPC. */
export const NpcParams = Type.Object({ npcId: ClientId });
export const AgentParams = Type.Object({ agentId: ClientId });
export const TurnParams = Type.Object({ npcId: ClientId, turnId: Type.String() });
