import { type TSchema, Type } from '@sinclair/typebox';

import type { JsonObject } from '../../../kernel/base/json.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject } from '../../../kernel/http/schemas.js';
import { MemoryItem } from '../../memory/body-schemas.js';

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });
const time = Type.String({ format: 'date-time' });
const object = (description: string) => Type.Unsafe<JsonObject>({ ...FreeObject, description });

const signer = Type.Unsafe<'ours' | 'known' | 'unknown'>({
  ...{ type: 'string', enum: ['ours', 'known', 'unknown'] },
  description: 'Who signed it: this server, a server that it trusts, or another one.',
});

/** The document itself has a separate, published schema. */
export const SoulDocumentSchema = named(
  'SoulDocument',
  Type.Unsafe<JsonObject>({
    type: 'object',
    required: ['id', 'version', 'npcId', 'signature'],
    properties: {
      id: { type: 'string', description: 'The id of the soul.' },
      version: { type: 'string', const: '1' },
      npcId: { type: 'string' },
      signature: { type: 'string', description: 'A compact JWS.' },
    },
    additionalProperties: true,
    description: 'A signed soul. `GET /souls/schema` returns its JSON Schema.',
  }),
);

/** A soul in the vocabulary of the protocol family. */
export const Soul = named(
  'Soul',
  Type.Object({
    id: Type.String(),
    version: Type.String(),
    name: Type.String(),
    persona: Type.String(),
    signature: Type.String(),
    state: object('The state, with default values where none is recorded.'),
    memories: Type.Array(MemoryItem),
  }),
);

export const ExportSoulResponse = named(
  'ExportSoulResponse',
  Type.Object({
    se1Instruction: named(
      'UploadInstruction',
      Type.Object({
        auiEndpoint: text('Where to POST the payload.'),
        auiContentType: Type.String(),
        auiAuthHeader: text('The value of the `Authorization` header of the upload.'),
        auiPayload: SoulDocumentSchema,
      }),
    ),
    se1SignedPayload: SoulDocumentSchema,
    se1Signature: Type.String(),
  }),
);

export const ConfirmSoulResponse = named(
  'ConfirmSoulResponse',
  Type.Object({
    txId: text('The id of the soul in the archive.'),
    arweaveUrl: text('Where the soul can be read.'),
    signature: Type.String(),
    soul: Soul,
  }),
);

export const ExportedAgentSoul = named(
  'ExportedAgentSoul',
  Type.Object({
    format: Type.String(),
    storage: Type.String(),
    cid: Type.Optional(text('Only with `storage: ipfs`.')),
    soul: Type.Optional(
      Type.Unsafe<JsonObject>({
        ...SoulDocumentSchema,
        description: 'Only with `storage: local`. With `format: binary` it also has `binary`: the CBOR, in base64.',
      }),
    ),
  }),
);

export const DownloadInstruction = named(
  'DownloadInstruction',
  Type.Object({
    adiGatewayUrl: text('Where to download the soul: GET `{adiGatewayUrl}/{adiExpectedTxId}`.'),
    adiExpectedTxId: Type.String(),
  }),
);
export const ImportSoulResponse = named('ImportSoulResponse', Type.Object({ si1Instruction: DownloadInstruction }));

export const ImportedSoul = named(
  'ImportedSoul',
  Type.Object({
    npcId: Type.String(),
    persona: orNull(Type.String()),
    data: FreeObject,
    soulId: Type.String(),
    copy: Type.Boolean({ description: 'Whether it was imported under a different npcId.' }),
    kid: text('The key that signed the soul.'),
    signer,
  }),
);

const CustodyLink = named(
  'CustodyLink',
  Type.Object({
    soulId: Type.String(),
    txId: Type.String(),
    issuer: text('The server that exported it.'),
    tenant: Type.String(),
    npcId: Type.String(),
    kid: Type.String(),
    root: Type.String(),
    importedAt: time,
    verified: Type.Boolean({
      description: 'Whether this server checked the signature of that soul or made it; otherwise the link is a claim.',
    }),
  }),
);
export const CustodySchema = named(
  'Custody',
  Type.Object({ npcId: Type.String(), copy: Type.Boolean(), chain: Type.Array(CustodyLink) }),
);

export const SoulList = named(
  'SoulList',
  Type.Object({
    souls: Type.Array(
      named(
        'ListedSoul',
        Type.Object({
          txId: Type.String(),
          name: Type.String(),
          npcId: Type.String(),
          exportedAt: time,
          arweaveUrl: Type.String(),
          withdrawnAt: Type.Optional(
            Type.String({
              format: 'date-time',
              description: 'When it was withdrawn from the archive of this server; absent if it was not.',
            }),
          ),
        }),
      ),
    ),
  }),
);

export const JsonSchema = named('JsonSchema', object('A JSON Schema, version 2020-12.'));

export const FoundSoul = named(
  'FoundSoul',
  Type.Object({ si1Instruction: DownloadInstruction, soul: Type.Optional(Soul) }),
);

export const VerifiedSoul = named(
  'VerifiedSoul',
  Type.Union([
    named(
      'ValidSoul',
      Type.Object({
        valid: Type.Literal(true),
        signer,
        kid: text('The key that signed the soul.'),
        soulId: Type.String(),
      }),
    ),
    named(
      'InvalidSoul',
      Type.Object({ valid: Type.Literal(false), reason: text('Such as `bad_signature` or `malformed`.') }),
    ),
  ]),
);

export const MemoryProof = named(
  'MemoryProof',
  Type.Object({
    txId: Type.String(),
    soulId: Type.String(),
    memory: object('The memory as it is in the soul.'),
    part: Type.Integer({ description: 'The index of the leaf.' }),
    parts: Type.Integer({ description: 'How many leaves the tree has.' }),
    path: Type.Array(Type.String()),
    root: Type.String(),
    signature: Type.String(),
  }),
);

const Names = Type.Array(Type.String());
const DisclosedPart = Type.Object({
  bytes: Type.Integer(),
  items: Type.Array(Type.Object({ pointer: Type.String(), players: Names })),
});
export const SoulDisclosure = named(
  'SoulDisclosure',
  Type.Object({
    txId: Type.String(),
    soulId: Type.String(),
    npcId: Type.String(),
    bytes: Type.Integer(),
    without: Type.Array(Type.String(), { description: 'What the soul leaves out.' }),
    turns: Type.Unsafe<'read' | 'unread'>({
      ...{ type: 'string', enum: ['read', 'unread'] },
      description: 'Whether this server has the turns of the NPC, which name most players.',
    }),
    persona: Type.Object({ bytes: Type.Integer(), players: Names }),
    players: Type.Array(
      Type.Object({ names: Names, memories: Type.Integer(), state: Type.Integer(), facts: Type.Integer() }),
    ),
    memories: Type.Object({
      count: Type.Integer(),
      bytes: Type.Integer(),
      about: Type.Integer({ description: 'How many memories are about players.' }),
      items: Type.Array(
        Type.Object({
          memoryId: Type.String(),
          eventId: Type.String(),
          turnId: orNull(Type.String()),
          players: Names,
          by: Type.Array(Type.String()),
        }),
      ),
    }),
    state: DisclosedPart,
    facts: DisclosedPart,
    more: Type.Optional(Type.Literal(true, { description: 'The list is incomplete.' })),
  }),
);
