import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

import { MEMORY_BYTES, METADATA_BYTES } from '../../npcs/domain/recorded-bytes.js';
import { GAME_TIME_CHARS, type GameTime } from '../../npcs/domain/game-time.js';
import type { Speaker } from '../../npcs/domain/events.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { MAX_PART_BYTES, MAX_SOUL_LINKS, MAX_SOUL_MEMORIES } from './bounds.js';
import { moods, namedMembers, type SoulState } from './soul-state.js';

/**
 * The soul document as a JSON Schema. It is closed, because a signature must not cover members that no reader looks at: only `extra` and `metadata`
 * hold arbitrary JSON. Strings are limited to the length of a part, in characters.
 */

const closed = <Properties extends TProperties>(properties: Properties, options: object = {}) =>
  Type.Unsafe<Readonly<Static<TObject<Properties>>>>(
    Type.Object(properties, { additionalProperties: false, ...options }),
  );
const list = <Item extends TSchema>(item: Item, options: object) =>
  Type.Unsafe<readonly Static<Item>[]>(Type.Array(item, options));
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = (description: string, minLength = 0) => Type.String({ minLength, maxLength: MAX_PART_BYTES, description });
const ourId = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$', description });
const clientId = (description: string) =>
  Type.String({ format: 'client-id', minLength: 1, maxLength: 128, description });
const digest = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: `${description}: 32 bytes, base64url.` });
const time = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$',
    description: `${description}: RFC 3339, UTC, milliseconds.`,
  });
const issuer = Type.String({ minLength: 1, maxLength: 2_048, description: 'The public URL of a server.' });
const tenant = Type.String({ pattern: '^[a-z0-9_-]{1,64}$' });
const revision = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const free = (description: string) => Type.Unsafe<JsonObject>({ type: 'object', description });
const numbers = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: { type: 'number' },
});

const State = Type.Unsafe<SoulState>(
  closed({
    inventory: Type.Array(Type.String()),
    skills: numbers,
    relationships: numbers,
    mood: Type.String({ enum: [...moods] }),
    fear: Type.Number(),
    confidence: Type.Number(),
    extra: free(
      'Recorded state that does not belong to the other members, or does not have the type that its name requires.',
    ),
    filled: Type.Array(Type.String({ enum: [...namedMembers] }), {
      uniqueItems: true,
      maxItems: namedMembers.length,
      description: 'The members that only have default values; an import leaves them out.',
    }),
  }),
);

/** An item of `memories` in the schema below. Its members have the names that both families use in lists of memories. */
export const soulMemorySchema = closed({
  id: ourId('Unique in the soul.'),
  text: Type.String({ minLength: 1, maxLength: MEMORY_BYTES, description: `At most ${MEMORY_BYTES} bytes of UTF-8.` }),
  type: Type.String({ minLength: 1, maxLength: 64 }),
  importance: Type.Number({ minimum: 0, maximum: 1 }),
  timestamp: time('When it was stored'),
  confirmed: Type.Boolean({ description: 'Whether a body has confirmed it.' }),
  metadata: free(
    `\`{}\` when there is none. A soul is imported only if this has at most ${METADATA_BYTES} bytes of JSON, also in compatibility form (NFKC).`,
  ),
  player: Type.Optional(
    closed(
      {
        id: Type.String({ maxLength: 256, description: 'Empty if it could not be read.' }),
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        from: Type.Unsafe<Speaker['from']>({ type: 'string', enum: ['token', 'body', 'header', 'context'] }),
      },
      { description: 'The player who spoke when it was stored, and where the request named them.' },
    ),
  ),
  gameTime: Type.Optional(
    Type.Unsafe<GameTime>({
      oneOf: [{ type: 'number' }, { type: 'string', minLength: 1, maxLength: GAME_TIME_CHARS }],
      description: 'The time of the game when it was stored: seconds, or RFC 3339.',
    }),
  ),
  cause: closed(
    { turnId: orNull(ourId('The turn that it was part of.')), eventId: ourId('The event that stored it.'), revision },
    { description: 'What the exporting server recorded of it.' },
  ),
});

const Link = closed({
  soulId: ourId('Of a soul that this mind came from.'),
  txId: ourId('Where an archive keeps that soul.'),
  issuer,
  tenant,
  npcId: clientId('The mind whose soul it was.'),
  kid: digest('The key that signed it'),
  root: digest('Its root'),
  importedAt: time('When it was imported'),
});

const Soul = closed({
  id: ourId('The id of the soul.'),
  version: Type.Literal('1'),
  createdAt: time('When it was made'),
  name: text('The text `name` of the recorded state; if there is none, the npcId.', 1),
  npcId: clientId('The mind whose soul it is.'),
  persona: text('Empty if none is recorded.'),
  // The model is not part of a mind.
  baseModelWeights: Type.Literal(''),
  without: Type.Optional(
    list(Type.Literal('players'), {
      minItems: 1,
      uniqueItems: true,
      description: 'What was left out; absent if nothing was.',
    }),
  ),
  state: State,
  facts: Type.Optional(free('What the game reported of the mind; absent if nothing.')),
  memories: list(soulMemorySchema, { maxItems: MAX_SOUL_MEMORIES, description: 'Oldest first.' }),
  ruleset: orNull(
    closed({
      rulesetId: clientId(
        'The set that the mind was bound to, otherwise the tenant’s default, when the soul was made.',
      ),
      version: revision,
      digest: digest('The SHA-256 of its JCS form'),
      bound: Type.Optional(Type.Literal(true, { description: 'Present if the mind was bound to it.' })),
    }),
  ),
  provenance: closed({
    issuer,
    tenant,
    npcId: clientId('The mind that was exported.'),
    revision,
    hash: digest('The hash of the last event that the soul includes'),
    chain: list(Link, { maxItems: MAX_SOUL_LINKS, description: 'The souls that it came from, oldest first.' }),
  }),
  trainingProof: digest('The root of its parts'),
  signature: Type.String({
    pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
    maxLength: 16_384,
    description: 'A compact JWS (RFC 7515) of its claims; docs/reference/formats/soul.md describes how to verify it.',
  }),
});

/** Published as docs/reference/soul.schema.json. */
export const soulSchema = Type.Unsafe<Static<typeof Soul>>({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:anima:soul:1',
  title: 'A soul, version 1',
  ...Soul,
});
