import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../app/minds/minds.js';
import { waitForRevision } from '../../app/read-models/read-wait.js';
import { whyOf, type WhyDeps } from '../../app/turns/why.js';
import type { VerdictSigner } from '../../app/turns/verdict-signer.js';
import { verdictWire } from '../../domain/npc/signature.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { minRevision } from '../min-revision.js';
import { ok, route, type RouteDefinition } from '../route.js';
import { FreeObject, nullable, openObject, TurnParams } from '../schemas.js';

const Shown = openObject({});

/** `GET /npcs/{npcId}/verdicts/{turnId}/why` (contract 10.2). */
export const whyRoute = (deps: WhyDeps & { readonly signer: VerdictSigner }): RouteDefinition =>
  route({
    operationId: 'why',
    method: 'GET',
    path: '/npcs/:npcId/verdicts/:turnId/why',
    tag: 'Histories',
    summary: 'Everything that a turn rested on',
    description:
      'Made from the record alone: what was perceived, the mind as it was, every rule with what it saw, the memories with their scores and causes, the prompt, the words of the model, the checks, the verdict, and what it changed.',
    scope: 'audit',
    ext: true,
    params: TurnParams,
    responses: ok(
      'What it rested on; members that the turn does not have (yet) are null or empty.',
      openObject({
        npcId: Type.String(),
        turnId: Type.String(),
        kind: Type.String(),
        state: Type.String(),
        observation: Type.String(),
        mind: openObject({ revision: Type.Integer() }),
        rulesetMissing: Type.Optional(Type.String()),
        rules: Type.Array(Shown),
        memories: Type.Array(Shown),
        prompt: nullable(FreeObject),
        model: nullable(FreeObject),
        checks: Type.Array(Shown),
        verdict: nullable(FreeObject),
        mismatches: Type.Array(Shown),
        stateChange: nullable(FreeObject),
        memoriesStored: Type.Array(Shown),
        events: Type.Array(Shown),
      }),
    ),
    handler: async (call) => {
      const { npcId, turnId } = call.params;
      const { tenant } = call.principal;
      const revision = await requireRevision(deps.events, tenant, npcId);
      await waitForRevision(deps.events, npcStream(tenant, npcId), minRevision(call));
      const { turn, ...grounds } = await whyOf(deps, tenant, npcId, turnId);
      const { verdict: rested, rounds: _rounds, ...about } = turn;
      const said = rested && { tenant, npcId, turnId, observation: turn.observation, verdict: rested.verdict };
      const signature =
        rested && said && (await deps.signer.sign(rested.signing ? { ...said, signing: rested.signing } : said));
      return {
        revision,
        body: {
          ...about,
          ...grounds,
          checks: rested?.grounds.checks ?? [],
          verdict: rested && verdictWire(rested.verdict, signature),
        },
      };
    },
  });
