import { Type } from '@sinclair/typebox';

import type { VerdictSigner } from '../../app/verdict-signer.js';
import { type RouteDefinition, route } from '../route.js';
import { FreeObject, nullable } from '../schemas.js';

const reasons = ['malformed', 'unknown_key', 'bad_signature', 'other_npc', 'other_verdict'] as const;

/** `POST /verdicts/verify`: whether a signature is ours and covers a verdict (contract 2.9). */
export const verdictRoutes = (signer: VerdictSigner): readonly RouteDefinition[] => [
  route({
    operationId: 'verifyVerdict',
    method: 'POST',
    path: '/verdicts/verify',
    tag: 'Protocol',
    summary: 'Whether a signature covers this verdict of this NPC',
    description:
      'The signature stands in the body or in the header `X-Service-Signature`. `stateTransform` is read as `stateDelta`.',
    scope: 'npc',
    ext: true,
    body: Type.Object({ npcId: Type.String(), signature: nullable(Type.String()), verdict: FreeObject }),
    responses: {
      200: {
        description: 'The answer.',
        schema: Type.Object({
          valid: Type.Boolean(),
          reason: Type.Optional(Type.Unsafe<(typeof reasons)[number]>({ type: 'string', enum: [...reasons] })),
        }),
      },
    },
    handler: async (call) => {
      const { npcId, verdict } = call.body;
      const signature = call.body.signature ?? call.header('x-service-signature');
      return { body: await signer.verify({ tenant: call.principal.tenant, npcId, signature, verdict }) };
    },
  }),
];
