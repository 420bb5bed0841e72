import { Type } from '@sinclair/typebox';

import { POLICY } from '../../app/ghosts/ghost-engine.js';
import { readGhost } from '../../app/ghosts/remote-body.js';
import { type GhostAsked, type GhostSession, runGhost, stopGhost } from '../../app/ghosts/run-ghost.js';
import { lastStep } from '../../app/ghosts/steps-log.js';
import { requireGhostRoom } from '../../app/ghosts/ghost-room.js';
import { type GhostGoal, ghostGoals } from '../../domain/ghost/policy.js';
import { type GhostDriver, ghostDrivers } from '../../domain/ghost/session-events.js';
import { goalOf } from '../../domain/ghost/suite.js';
import { ghostStepsStream } from '../../domain/shared/stream-names.js';
import { defined } from '../../domain/shared/defined.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ghosts as ghostRows, type GhostRow } from '../../../projections/ghosts.js';
import { contextOf } from '../command-context.js';
import { durationOf, ghostErrorsOf, ShownStatus, LevelShown, ghostStatusOf } from '../ghost-results.js';
import { nextLink, pageOf, pageQuery } from '../page.js';
import { type Call, type RouteDefinition, route } from '../route.js';
import { ClientId, nullable } from '../schemas.js';
import type { Services } from '../services.js';

/** The longest session, in milliseconds. */
const LONGEST_MS = 86_400_000;
/** The largest budget of steps that a client may ask for. */
const MAX_STEPS = 1_000_000;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_DURATION_SECONDS = 300;
const DEFAULT_HISTORY = 10;
const MAX_ENGINE_CHARS = 256;

const asked = {
  steps: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_STEPS,
      description: 'How many steps it may take; without it, by goal and level.',
    }),
  ),
  level: nullable(ClientId),
  seed: nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  timeout: nullable(Type.Integer({ minimum: 1, maximum: LONGEST_MS, description: 'Milliseconds.' })),
  driver: nullable(
    Type.Unsafe<GhostDriver>({
      type: 'string',
      enum: [...ghostDrivers],
      description: 'remote: a game of the studio plays it (POST /ghost/{sessionId}/process).',
    }),
  ),
  engine: nullable(
    Type.String({
      maxLength: MAX_ENGINE_CHARS,
      description:
        'An engine, or its model, that plays the ghost; without it, and with `scripted`, the policy of the goal does.',
    }),
  ),
};
const Goal = Type.Unsafe<GhostGoal>({ type: 'string', enum: [...ghostGoals] });
const NullableTime = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

export const SessionParams = Type.Object({ sessionId: Type.String() });

type GhostBody = {
  level?: string | null;
  seed?: number | null;
  steps?: number | null;
  timeout?: number | null;
  engine?: string | null;
  driver?: GhostDriver | null;
};

const completedAt = (session: GhostSession): string | null => ('completedAt' in session ? session.completedAt : null);
const progressOf = (session: GhostSession, step: number): number =>
  'completedAt' in session ? 1 : Math.min(1, step / Math.max(1, session.steps));

/** A game that plays a ghost brings its own model. @throws Rejection SCHEMA_INVALID */
const requireOneSpeaker = ({ driver, engine }: Pick<GhostBody, 'driver' | 'engine'>): void => {
  if (driver !== 'remote' || engine === undefined || engine === null) return;
  const message = 'does not go with the driver "remote": your game brings the model';
  throw new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer: '/engine', message }] } });
};

/** Ghost sessions: run, looked at, stopped, listed (contract 7.3, 9). */
export const ghostRoutes = (services: Services): readonly RouteDefinition[] => {
  const { ports, engine, engines, journal, lanes, levels, ghostEngines, ghostPlays: plays } = services;
  const deps = { engine, engines, journal, levels, lanes, plays, events: ports.events, clock: ports.clock };

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
    const { keyed: _keyed, resumed: _resumed, ...by } = contextOf(call);
    const wanted: GhostAsked = {
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
  /** How many steps are recorded: a session that plays tells it only once in a while. */
  const stepsOf = async (tenant: string, session: GhostSession): Promise<number> => {
    if (session.name === 'over' || session.name === 'pending') return session.step;
    return lastStep(ports.events, ghostStepsStream(tenant, session.sessionId));
  };

  const waitingOf = (tenant: string, session: GhostSession, step: number): string | null => {
    const { sessionId, engine: speaker } = session;
    if (speaker === undefined || 'completedAt' in session) return null;
    return ghostEngines.whyWaiting({ tenant, sessionId, engine: speaker, step });
  };

  return [
    route({
      operationId: 'runGhost',
      method: 'POST',
      path: '/v1/ghost/run',
      tag: 'Ghosts',
      summary: 'Send a ghost into a level',
      description:
        'A ghost is a mind without a body. It plays on this server until it has done what it was sent for, its budget of steps is used up, or its time is over. The same goal, level and seed play the same session, unless an engine plays it.',
      scope: 'ghosts',
      body: Type.Object({ goal: Goal, ...asked }),
      responses: {
        202: {
          description: 'The session; it goes on by itself.',
          schema: Type.Object({
            id: Type.String(),
            status: ShownStatus,
            progress: Type.Number(),
            startedAt: Type.String({ format: 'date-time' }),
            completedAt: Type.Optional(Type.String({ format: 'date-time' })),
            seed: Type.Integer(),
          }),
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
            progress: progressOf(session, session.step),
            ...defined({ completedAt: completedAt(session) ?? undefined }),
          },
        };
      },
    }),
    route({
      operationId: 'runGhostSuite',
      method: 'POST',
      path: '/ghost/run',
      tag: 'Ghosts',
      summary: 'Run a test suite in a level',
      scope: 'ghosts',
      body: Type.Object({
        testSuite: Type.String({ minLength: 1, maxLength: 128 }),
        duration: nullable(Type.Integer({ minimum: 1, maximum: LONGEST_MS / 1_000, description: 'Seconds.' })),
        goal: nullable(Goal),
        ...asked,
      }),
      responses: {
        200: {
          description: 'The session; it goes on by itself.',
          schema: Type.Object({ sessionId: Type.String(), runStatus: ShownStatus, seed: Type.Integer() }),
        },
      },
      handler: async (call) => {
        const { testSuite, duration, goal } = call.body;
        const timeoutMs = (duration ?? DEFAULT_DURATION_SECONDS) * 1_000;
        const { session, position } = await run(call, goal ?? goalOf(testSuite), testSuite, timeoutMs);
        const { sessionId, seed } = session;
        return { position, body: { sessionId, runStatus: ghostStatusOf(session), seed } };
      },
    }),
    route({
      operationId: 'ghostHistory',
      method: 'GET',
      path: '/ghost/history',
      tag: 'Ghosts',
      summary: 'The sessions of the studio, newest first',
      scope: 'ghosts',
      query: Type.Object(pageQuery),
      responses: {
        200: {
          description: 'The sessions; `Link` leads to the next page.',
          schema: Type.Object({
            sessions: Type.Array(
              Type.Object({
                histSessionId: Type.String(),
                histTestSuite: Type.String(),
                histStartedAt: Type.String({ format: 'date-time' }),
                histCompletedAt: NullableTime,
                histStatus: ShownStatus,
                histPassRate: Type.Number(),
                histGoal: Type.String(),
                histLevel: LevelShown,
                histSeed: Type.Integer(),
              }),
            ),
          }),
        },
      },
      handler: async (call) => {
        await ports.readModels.reachedPosition(ghostRows, call.wrote);
        const page = pageOf({ limit: DEFAULT_HISTORY, ...call.query });
        const { rows, more } = await ports.readModels.list(ghostRows, {
          partition: call.principal.tenant,
          direction: 'descending',
          ...page,
        });
        return {
          headers: nextLink(call, page, rows, more),
          body: { sessions: rows.map(({ row }) => listed(row as GhostRow)) },
        };
      },
    }),
    route({
      operationId: 'ghostStatus',
      method: 'GET',
      path: '/ghost/:sessionId/status',
      tag: 'Ghosts',
      summary: 'How far a session is',
      scope: 'ghosts',
      params: SessionParams,
      responses: {
        200: {
          description: 'Where it stands.',
          schema: Type.Object({
            ghostSessionId: Type.String(),
            ghostStatus: ShownStatus,
            ghostProgress: Type.Number({ description: '0 to 1' }),
            ghostStartedAt: Type.String({ format: 'date-time' }),
            ghostDuration: Type.Number({ description: 'Seconds.' }),
            ghostErrors: Type.Array(Type.String()),
            ghostGoal: Type.String(),
            ghostLevel: LevelShown,
            ghostSeed: Type.Integer(),
            ghostStep: Type.Integer(),
            ghostSteps: Type.Integer(),
            ghostTimedOut: Type.Boolean(),
            ghostDriver: Type.String({ description: ghostDrivers.join(' or ') }),
            ghostCompletedAt: NullableTime,
            ghostEngine: Type.String({ description: '`scripted` where the policy of the goal plays.' }),
            ghostWaiting: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
          }),
        },
      },
      handler: async (call) => {
        const session = await readGhost(deps, call.principal.tenant, call.params.sessionId);
        const step = await stepsOf(call.principal.tenant, session);
        const { sessionId, startedAt, goal, level, seed, steps } = session;
        return {
          body: {
            ghostSessionId: sessionId,
            ghostStatus: ghostStatusOf(session),
            ghostProgress: progressOf(session, step),
            ghostStartedAt: startedAt,
            ghostDuration: durationOf(session, ports.clock.now()) / 1_000,
            ghostErrors: ghostErrorsOf(session),
            ghostGoal: goal,
            ghostLevel: level,
            ghostSeed: seed,
            ghostStep: step,
            ghostSteps: steps,
            ghostTimedOut: 'timedOut' in session && session.timedOut,
            ghostDriver: session.driver ?? 'local',
            ghostCompletedAt: completedAt(session),
            ghostEngine: session.engine ?? POLICY,
            ghostWaiting: waitingOf(call.principal.tenant, session, step),
          },
        };
      },
    }),
    route({
      operationId: 'stopGhost',
      method: 'POST',
      path: '/ghost/:sessionId/stop',
      tag: 'Ghosts',
      summary: 'Stop a session; one that has ended stays as it is',
      scope: 'ghosts',
      params: SessionParams,
      body: Type.Object({}),
      responses: {
        200: {
          description: 'It plays no more.',
          schema: Type.Object({ stopStatus: Type.Literal('stopped'), stopSessionId: Type.String() }),
        },
      },
      handler: async (call) => {
        const { keyed: _keyed, resumed: _resumed, ...by } = contextOf(call);
        const { position } = await stopGhost(deps, call.principal.tenant, call.params.sessionId, by);
        return { position, body: { stopStatus: 'stopped', stopSessionId: call.params.sessionId } };
      },
    }),
  ];
};

const listed = ({
  sessionId,
  suite,
  goal,
  startedAt,
  completedAt: ended,
  status,
  passRate,
  level,
  seed,
}: GhostRow) => ({
  histSessionId: sessionId,
  histTestSuite: suite ?? goal,
  histStartedAt: startedAt,
  histCompletedAt: ended,
  histStatus: status,
  histPassRate: passRate,
  histGoal: goal,
  histLevel: level,
  histSeed: seed,
});
