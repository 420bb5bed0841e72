import { Type } from '@sinclair/typebox';

import { named } from '../../../kernel/http/named.js';
import { nullable } from '../../../kernel/http/schemas.js';

const MAX_NPC_IDS = 1_000;

const Hex = Type.String({ description: 'A SHA-256 in lower-case hexadecimal.' });
const Path = Type.Array(Hex);
export const CheckpointSchema = named(
  'Checkpoint',
  Type.Object({
    size: Type.Integer({ description: 'How many leaves the log has.' }),
    root: Hex,
    at: Type.String({ format: 'date-time' }),
    kid: Type.String({ description: 'The key that signed it.' }),
    note: Type.String({ description: 'The checkpoint in the formats C2SP signed-note and tlog-checkpoint.' }),
    leaves: Type.Integer({ description: 'How many leaves this checkpoint added.' }),
  }),
);
export const CheckpointList = named('CheckpointList', Type.Array(CheckpointSchema));
const Leaf = named(
  'LogLeaf',
  Type.Object({ stream: Type.String(), revision: Type.Integer(), hash: Hex, at: Type.String() }),
);
const Size = Type.Integer({ minimum: 0 });

export const ConsistencyProof = named('ConsistencyProof', Type.Object({ from: Size, size: Size, path: Path }));
export const InclusionProof = named(
  'InclusionProof',
  Type.Object({ size: Size, leaf: Leaf, index: Size, path: Path, note: Type.String() }),
);
export const AuditRequest = named(
  'AuditRequest',
  Type.Object({
    npcIds: nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
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
    valid: Type.Boolean(),
    streams: Type.Integer({ description: 'How many streams were checked.' }),
    events: Type.Integer({ description: 'How many events were checked.' }),
    broken: Type.Array(
      named(
        'AuditProblem',
        Type.Object({
          npcId: Type.Union([Type.String(), Type.Null()], { description: 'Null for the log itself.' }),
          revision: Type.Integer(),
          reason: Type.String(),
        }),
      ),
    ),
    next: Type.Optional(Type.String({ description: 'Send it as `after` to continue.' })),
  }),
);
