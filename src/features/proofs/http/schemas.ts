import { Type } from '@sinclair/typebox';

import { named } from '../../../kernel/http/named.js';
import { nullable } from '../../../kernel/http/schemas.js';

const MAX_NPC_IDS = 1_000;

const Hex = Type.String({ description: 'A SHA-256 in lower-case hexadecimal.' });
const Path = Type.Array(Hex);
/** The longest reason for a restart of a log, in characters. */
const MAX_REASON_CHARS = 500;

const HandedOn = Type.Union(
  [
    Type.Object({
      upTo: Type.Integer({ description: 'The size of the newest checkpoint that was published.' }),
      failed: Type.Union([Type.String(), Type.Null()], { description: 'Why newer ones were not.' }),
    }),
    Type.Null(),
  ],
  { description: 'How publishing ended; null without ANIMA_CHECKPOINT_URL.' },
);
export const CheckpointSchema = named(
  'Checkpoint',
  Type.Object({
    size: Type.Integer({ description: 'How many leaves the log has.' }),
    root: Hex,
    at: Type.String({ format: 'date-time' }),
    clock: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The clock of the server, if it was behind the previous checkpoint, whose time was taken.',
      }),
    ),
    kid: Type.String({ description: 'The key that signed it.' }),
    note: Type.String({ description: 'The checkpoint in the formats C2SP signed-note and tlog-checkpoint.' }),
    leaves: Type.Integer({ description: 'How many leaves this checkpoint added.' }),
    handedOn: Type.Optional(HandedOn),
  }),
);
export const CheckpointList = named('CheckpointList', Type.Array(CheckpointSchema));
const Leaf = named(
  'LogLeaf',
  Type.Object({
    stream: Type.String(),
    revision: Type.Integer(),
    hash: Hex,
    at: Type.String(),
    from: Type.Optional(Type.Integer({ description: 'The first event that `events` covers.' })),
    events: Type.Optional(
      Type.String({ description: 'The root (RFC 9162) over the hashes of the events from `from` up to `revision`.' }),
    ),
  }),
);
const Size = Type.Integer({ minimum: 0 });

export const ConsistencyProof = named('ConsistencyProof', Type.Object({ from: Size, size: Size, path: Path }));
export const InclusionProof = named(
  'InclusionProof',
  Type.Object({ size: Size, leaf: Leaf, index: Size, path: Path, note: Type.String() }),
);
export const RestartLogRequest = named(
  'RestartLogRequest',
  Type.Object({
    reason: Type.String({ minLength: 1, maxLength: MAX_REASON_CHARS, description: 'Why; it is recorded in the log.' }),
  }),
);
export const RestartedLogSchema = named(
  'RestartedLog',
  Type.Object({ origin: Type.String({ description: 'The new name of the log.' }), size: Size }),
);
export const AuditRequest = named(
  'AuditRequest',
  Type.Object({
    npcIds: nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        minItems: 1,
        maxItems: MAX_NPC_IDS,
        description: 'Only these NPCs; all by default.',
      }),
    ),
    after: nullable(Type.String({ minLength: 1, maxLength: 2_048, description: 'The `next` of the previous part.' })),
  }),
);
export const AuditResult = named(
  'AuditResult',
  Type.Object({
    valid: Type.Boolean({
      description: 'False if anything is broken, acknowledged or not, or if there is no log to compare with.',
    }),
    streams: Type.Integer({ description: 'How many streams were checked.' }),
    events: Type.Integer({ description: 'How many events were checked.' }),
    broken: Type.Array(
      named(
        'AuditProblem',
        Type.Object({
          stream: Type.String({ description: 'The stream, which may be the log.' }),
          npcId: Type.Union([Type.String(), Type.Null()], { description: 'Null for streams that are not of an NPC.' }),
          revision: Type.Integer(),
          reason: Type.String(),
          acknowledged: Type.Union(
            [
              Type.Object({
                by: Type.String({ description: 'The id of the key.' }),
                at: Type.String({ format: 'date-time' }),
                reason: Type.Union([Type.String(), Type.Null()]),
              }),
              Type.Null(),
            ],
            { description: 'Who acknowledged this break. It stays broken.' },
          ),
        }),
      ),
    ),
    log: Type.Union(
      [
        Type.Object({
          origin: Type.String({ description: 'The name of the log.' }),
          size: Size,
          root: Hex,
          at: Type.String({ format: 'date-time', description: 'When its newest checkpoint was signed.' }),
          handedOn: HandedOn,
        }),
        Type.Null(),
      ],
      { description: 'The newest checkpoint of the log; null if there is none, so that nothing could be compared.' },
    ),
    next: Type.Optional(Type.String({ description: 'Send it as `after` to continue.' })),
  }),
);
