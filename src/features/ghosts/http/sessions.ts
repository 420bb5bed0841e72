import { Type } from '@sinclair/typebox';

import type { GhostEngines } from '../call-engines.js';
import { POLICY } from '../ghost-engine.js';
import { readGhost } from '../remote-body.js';
import type { PlayCache } from '../remote-steps.js';
import { type GhostSession, stopGhost } from '../run-ghost.js';
import { lastStep } from '../steps-log.js';
import type { Levels } from '../../levels/levels.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { ghostDrivers } from '../domain/events.js';
import { named } from '../../../kernel/http/named.js';
import { oneOf, pathId } from '../../../kernel/http/schemas.js';
import { sessionExamples as examples } from './examples.js';
import { ghostStepsStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { ghosts as ghostRows, type GhostRow } from '../../../../projections/ghosts.js';
import { ok, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import {
  durationOf,
  ghostCompletedAt,
  ghostErrorsOf,
  ghostProgressOf,
  ghostStatusOf,
  LevelShown,
  ShownStatus,
} from './shown-results.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';

const DEFAULT_HISTORY = 10;

const NullableTime = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

export const ListedSession = named(
  'ListedGhostSession',
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
);
const GhostHistory = named('GhostHistory', Type.Object({ sessions: Type.Array(ListedSession) }));
export const SessionStatus = named(
  'GhostSessionStatus',
  Type.Object({
    ghostSessionId: Type.String(),
    ghostStatus: ShownStatus,
    ghostProgress: Type.Number({ description: 'From 0 to 1.' }),
    ghostStartedAt: Type.String({ format: 'date-time' }),
    ghostDuration: Type.Number({ description: 'In seconds.' }),
    ghostErrors: Type.Array(Type.String()),
    ghostGoal: Type.String(),
    ghostLevel: LevelShown,
    ghostSeed: Type.Integer(),
    ghostStep: Type.Integer(),
    ghostSteps: Type.Integer(),
    ghostTimedOut: Type.Boolean(),
    ghostDriver: oneOf(ghostDrivers),
    ghostCompletedAt: NullableTime,
    ghostEngine: Type.String({
      description: 'The engine that plays the ghost; `scripted` is the built-in policy of the goal.',
    }),
    ghostWaiting: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What the session is waiting for, if its engine does not respond.',
    }),
  }),
);
export const SessionParams = Type.Object({
  sessionId: pathId('The id of the session.', 'g0_mwzc2uxn_gTSD53_I8kP7plxy'),
});
const StopGhostRequest = named('StopGhostRequest', Type.Object({}));
const StoppedGhost = named(
  'StoppedGhost',
  Type.Object({ stopStatus: Type.Literal('stopped'), stopSessionId: Type.String() }),
);

type GhostRouteDeps = {
  readonly ports: Ports;
  readonly runtime: ProcessRuntime;
  readonly repository: ProcessRepository;
  readonly writers: StreamWriters;
  readonly levels: Levels;
  readonly ghostEngines: GhostEngines;
  readonly ghostPlays: PlayCache;
};

/** Status, stopping and history of ghost sessions. */
export const ghostRoutes = (services: GhostRouteDeps): readonly RouteDefinition[] => {
  const { ports, runtime, repository, writers, levels, ghostEngines, ghostPlays: plays } = services;
  const deps = { runtime, repository, levels, writers, plays, events: ports.events };

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
    route('GET', '/ghost/history', {
      operationId: 'ghostHistory',
      tag: 'Ghosts',
      summary: 'List ghost sessions',
      description: 'Newest first; 10 by default.',
      scope: 'ghosts',
      query: Type.Object(pageQuery),
      responses: ok('The sessions; `Link` names the next page.', GhostHistory, examples.history),
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
    route('GET', '/ghost/:sessionId/status', {
      operationId: 'ghostStatus',
      tag: 'Ghosts',
      summary: 'Get the status of a ghost session',
      scope: 'ghosts',
      params: SessionParams,
      refuses: ['GHOST_NOT_FOUND', 'LEVEL_NOT_FOUND'],
      responses: ok('The status.', SessionStatus, examples.status),
      handler: async (call) => {
        const session = await readGhost(deps, call.principal.tenant, call.params.sessionId);
        const step = await stepsOf(call.principal.tenant, session);
        const { sessionId, startedAt, goal, level, seed, steps } = session;
        return {
          body: {
            ghostSessionId: sessionId,
            ghostStatus: ghostStatusOf(session),
            ghostProgress: ghostProgressOf(session, step),
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
            ghostCompletedAt: ghostCompletedAt(session),
            ghostEngine: session.engine ?? POLICY,
            ghostWaiting: waitingOf(call.principal.tenant, session, step),
          },
        };
      },
    }),
    route('POST', '/ghost/:sessionId/stop', {
      operationId: 'stopGhost',
      tag: 'Ghosts',
      summary: 'Stop a ghost session',
      description: 'Stopping a session that has ended changes nothing.',
      scope: 'ghosts',
      params: SessionParams,
      body: StopGhostRequest,
      example: {},
      refuses: ['GHOST_NOT_FOUND'],
      responses: ok('The session no longer plays.', StoppedGhost, examples.stopped),
      handler: async (call) => {
        const by = onBehalfOf(call);
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
