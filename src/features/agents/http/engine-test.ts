import { Type } from '@sinclair/typebox';

import { CHECK_RESULTS, CHECKS, hasPassed } from '../engine-checks.js';
import { type EngineTestDeps, testEngine } from '../test-engine.js';
import { agentExamples as examples } from './examples.js';
import type { Engines } from '../../engines/engines.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { oneOf } from '../../../kernel/http/schemas.js';
import type { Ports } from '../../../ports/ports.js';

const MAX_NAME_CHARS = 256;
/** When another test may have ended, in seconds. */
const RETRY_SECONDS = 10;

const EngineTest = named(
  'EngineTest',
  Type.Object({
    cortexId: Type.String(),
    name: Type.String({ description: 'The name of its model.' }),
    passed: Type.Boolean({ description: 'Whether it has played the turn, and no check has failed.' }),
    checks: Type.Array(
      Type.Object({
        check: oneOf(CHECKS),
        result: oneOf(CHECK_RESULTS),
        message: Type.String({ description: 'What was found, for humans.' }),
        figures: Type.Optional(Type.Record(Type.String(), Type.Number())),
      }),
    ),
  }),
);
/** The answer of `POST /cortex/{cortexId}/test`. */
export type EngineTestAnswer = (typeof EngineTest)['static'];

type EngineTestRouteDeps = {
  readonly engines: Engines;
  readonly ports: Pick<Ports, 'clock'>;
  readonly agentWaitMs: EngineTestDeps['agentWaitMs'];
};

/** `POST /cortex/{cortexId}/test`: one at a time in a process, because each calls its engine several times. */
export const engineTestRoute = ({ engines, ports, agentWaitMs }: EngineTestRouteDeps): RouteDefinition => {
  let isTesting = false;
  return route('POST', '/cortex/:cortexId/test', {
    operationId: 'testCortex',
    tag: 'Cortex',
    summary: 'Test an engine',
    description:
      'Calls an engine three times and judges its answers: whether it is reachable, obeys a JSON schema, keeps its reasoning apart, how many tokens it takes, how fast it is, and whether it plays a turn of an NPC under the default rules. It takes at most a minute, and records nothing.',
    scope: 'npc',
    ext: true,
    params: Type.Object({
      cortexId: Type.String({
        maxLength: MAX_NAME_CHARS,
        description: 'The id of the engine, from `GET /cortex/models`.',
        examples: ['scripted'],
      }),
    }),
    refuses: ['CORTEX_NOT_FOUND', 'BUSY'],
    responses: ok('The checks, in this order.', EngineTest, examples.engineTest),
    handler: async (call) => {
      const { cortexId } = call.params;
      const engine = engines.all.find(({ id }) => id === cortexId);
      if (engine === undefined) throw new Rejection('CORTEX_NOT_FOUND', { details: { cortexId } });
      if (isTesting) throw new Rejection('BUSY', { retryAfter: RETRY_SECONDS });
      isTesting = true;
      try {
        const checks = await testEngine({ clock: ports.clock, agentWaitMs }, engine, clientSignal(call));
        return { body: { cortexId, name: engine.name, passed: hasPassed(checks), checks } };
      } finally {
        isTesting = false;
      }
    },
  });
};
