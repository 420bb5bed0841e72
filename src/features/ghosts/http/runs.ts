import { Type } from '@sinclair/typebox';

import type { Engines } from '../../engines/engines.js';
import { requireGhostRoom } from '../ghost-room.js';
import { type GhostRequest, runGhost } from '../run-ghost.js';
import type { Levels } from '../../levels/levels.js';
import type { GhostGoal } from '../domain/policy.js';
import { type GhostDriver, ghostDrivers } from '../domain/events.js';
import { goalOf } from '../domain/suite.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { type Call, ok, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import { runExamples as examples } from './examples.js';
import { ghostCompletedAt, ghostProgressOf, ghostStatusOf, NamedGoal, ShownStatus } from './shown-results.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, nullable } from '../../../kernel/http/schemas.js';

/** The longest session, in milliseconds. */
const LONGEST_MS = 86_400_000;
/** The most steps that a client may request. */
const MAX_STEPS = 1_000_000;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_DURATION_SECONDS = 300;
const MAX_ENGINE_CHARS = 256;

const asked = {
  steps: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_STEPS,
      description: 'The maximum number of steps. The default depends on the goal and the level.',
    }),
  ),
  level: nullable(Type.String({ ...ClientId, description: 'The id of a level; a generated one by default.' })),
  seed: nullable(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The same goal, level and seed play the same session.',
    }),
  ),
  timeout: nullable(Type.Integer({ minimum: 1, maximum: LONGEST_MS, description: 'The time limit, in milliseconds.' })),
  driver: nullable(
    Type.Unsafe<GhostDriver>({
      type: 'string',
      enum: [...ghostDrivers],
      description:
        'Who is the body: this server (`local`, the default), or your game through `POST /ghost/{sessionId}/process` (`remote`).',
    }),
  ),
  engine: nullable(
    Type.String({
      maxLength: MAX_ENGINE_CHARS,
      description:
        'The name of an engine, or of its model, that plays the ghost. By default, and with `scripted`, the built-in policy of the goal plays.',
    }),
  ),
};

const RunGhostRequest = named('RunGhostRequest', Type.Object({ goal: NamedGoal, ...asked }));
const AcceptedGhost = named(
  'AcceptedGhost',
  Type.Object({
    id: Type.String(),
    status: ShownStatus,
    progress: Type.Number({ description: 'From 0 to 1.' }),
    startedAt: Type.String({ format: 'date-time' }),
    completedAt: Type.Optional(Type.String({ format: 'date-time' })),
    seed: Type.Integer(),
  }),
);
const RunGhostSuiteRequest = named(
  'RunGhostSuiteRequest',
  Type.Object({
    testSuite: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The name of the suite. It chooses the goal.',
    }),
    duration: nullable(
      Type.Integer({ minimum: 1, maximum: LONGEST_MS / 1_000, description: 'The time limit, in seconds.' }),
    ),
    goal: nullable(NamedGoal),
    ...asked,
  }),
);
const AcceptedGhostSuite = named(
  'AcceptedGhostSuite',
  Type.Object({ sessionId: Type.String(), runStatus: ShownStatus, seed: Type.Integer() }),
);

type GhostBody = {
  level?: string | null;
  seed?: number | null;
  steps?: number | null;
  timeout?: number | null;
  engine?: string | null;
  driver?: GhostDriver | null;
};

/** A game that plays a ghost has its own model. @throws Rejection SCHEMA_INVALID */
const requireOneSpeaker = ({ driver, engine }: Pick<GhostBody, 'driver' | 'engine'>): void => {
  if (driver !== 'remote' || engine === undefined || engine === null) return;
  const message = 'cannot be combined with the driver "remote", because your game runs the model';
  throw new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer: '/engine', message }] } });
};

type GhostRunRouteDeps = {
  readonly ports: Ports;
  readonly runtime: ProcessRuntime;
  readonly engines: Engines;
  readonly levels: Levels;
};

/** `POST /v1/ghost/run` and `POST /ghost/run`. */
export const ghostRunRoutes = ({ ports, runtime, engines, levels }: GhostRunRouteDeps): readonly RouteDefinition[] => {
  const deps = { runtime, engines, levels, clock: ports.clock };

  const run = async (
    call: Call<unknown, unknown, GhostBody>,
    goal: GhostGoal,
    suite: string | null,
    timeoutMs: number,
  ) => {
    const { tenant } = call.principal;
    requireOneSpeaker(call.body);
    await requireGhostRoom(ports.readModels, tenant, call.wrote);
    const { level, seed, steps, driver, engine: speaker } = call.body;
    const by = onBehalfOf(call);
    const wanted: GhostRequest = {
      ...{ tenant, goal, suite, by },
      timeoutMs: call.body.timeout ?? timeoutMs,
      driver: driver ?? 'local',
      level: level ?? undefined,
      seed: seed ?? undefined,
      steps: steps ?? undefined,
      engine: speaker ?? undefined,
    };
    return runGhost(deps, wanted);
  };

  return [
    route('POST', '/v1/ghost/run', {
      operationId: 'runGhost',
      tag: 'Ghosts',
      summary: 'Start a ghost session',
      description:
        'A ghost plays a level on its own, as a test, until it has reached its goal, has used up its steps, or has run out of time. The same goal, level and seed play the same session, unless an engine plays.',
      scope: 'ghosts',
      body: RunGhostRequest,
      example: examples.run,
      refuses: ['LEVEL_NOT_FOUND', 'CORTEX_NOT_FOUND', 'GHOSTS_RUNNING'],
      responses: {
        202: {
          description: 'The session. It plays in the background; `Location` is the URL of its status.',
          schema: AcceptedGhost,
          example: examples.started,
        },
      },
      handler: async (call) => {
        const { session, position } = await run(call, call.body.goal, null, DEFAULT_TIMEOUT_MS);
        const { sessionId: id, startedAt, seed } = session;
        return {
          status: 202,
          headers: { Location: `/ghost/${id}/status` },
          position,
          body: {
            ...{ id, startedAt, seed },
            status: ghostStatusOf(session),
            progress: ghostProgressOf(session, session.step),
            ...defined({ completedAt: ghostCompletedAt(session) ?? undefined }),
          },
        };
      },
    }),
    route('POST', '/ghost/run', {
      operationId: 'runGhostSuite',
      tag: 'Ghosts',
      summary: 'Run a test suite in a level',
      scope: 'ghosts',
      body: RunGhostSuiteRequest,
      example: examples.suite,
      refuses: ['LEVEL_NOT_FOUND', 'CORTEX_NOT_FOUND', 'GHOSTS_RUNNING'],
      responses: ok('The session. It plays in the background.', AcceptedGhostSuite, examples.suiteStarted),
      handler: async (call) => {
        const { testSuite, duration, goal } = call.body;
        const timeoutMs = (duration ?? DEFAULT_DURATION_SECONDS) * 1_000;
        const { session, position } = await run(call, goal ?? goalOf(testSuite), testSuite, timeoutMs);
        const { sessionId, seed } = session;
        return { position, body: { sessionId, runStatus: ghostStatusOf(session), seed } };
      },
    }),
  ];
};
