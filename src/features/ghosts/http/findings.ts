import { Type } from '@sinclair/typebox';

import { compareSessions } from '../compare.js';
import { journeyOf, remoteJourney } from '../journey.js';
import type { SharedPace } from '../pace.js';
import { shownSteps } from '../shown-steps.js';
import { pngPicture } from '../png-picture.js';
import { type SessionCache, settingFor } from '../play-slice.js';
import { replayReproduction } from '../replay-reproduction.js';
import { reportSession } from '../report.js';
import { createSearches, reproduce } from '../reproduce.js';
import { readGhost } from '../remote-body.js';
import type { PlayCache } from '../remote-steps.js';
import { readSteps } from '../steps-log.js';
import type { Levels } from '../../levels/levels.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { yieldToEventLoop } from '../../../kernel/concurrency/yield-to-event-loop.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { junitOf } from '../domain/junit.js';
import { pictureOf } from '../domain/picture.js';
import { rasterOf } from '../domain/raster.js';
import { defined } from '../../../kernel/base/defined.js';
import { ghostStepsStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { MAX_ARCHIVED_BYTES } from '../../../ports/soul-archive.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { findingExamples as examples } from './examples.js';
import {
  GhostComparison,
  GhostReproduction,
  GhostSteps,
  ReplayedGhost,
  ReplayGhostRequest,
  Results,
} from './finding-schemas.js';
import { durationOf, shownResults } from './shown-results.js';
import { type Call, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { pathId } from '../../../kernel/http/schemas.js';
import { SessionParams } from './sessions.js';

const DEFAULT_STEPS = 100;
/** The maximum number of searches for a reproduction, and replays of one, that a process runs at a time. */
const SEARCHES = 4;
const TENANT_SEARCHES = 2;
const SVG = 'image/svg+xml';
const PNG = 'image/png';
const XML = 'application/xml';

const common = { tag: 'Ghosts', scope: 'ghosts' } as const;

type GhostFindingRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly levels: Levels;
  readonly repository: ProcessRepository;
  readonly runtime: ProcessRuntime;
  readonly ghostPace: SharedPace;
  readonly ghostPlays: PlayCache;
  readonly ghostSessions: SessionCache;
  readonly publicUrl: string;
};

/** The results of ghost sessions, and what is made from them. */
export const ghostFindingRoutes = (services: GhostFindingRouteDeps): readonly RouteDefinition[] => {
  const {
    ports,
    writers,
    levels,
    repository,
    runtime,
    ghostPace,
    ghostPlays: plays,
    ghostSessions: kept,
    publicUrl,
  } = services;
  const { events, clock } = ports;
  const deps = { events, levels, clock, searches: createSearches() };
  const searches = new Semaphore(SEARCHES, TENANT_SEARCHES);
  // A reader does not wait for the session that is being played.
  const reading = {
    events,
    writers,
    levels,
    plays,
    kept,
    runtime,
    repository,
    pace: <T>(work: () => T): Promise<T> => yieldToEventLoop().then(work),
  };

  const find = (call: Call<{ sessionId: string }>) => readGhost(reading, call.principal.tenant, call.params.sessionId);
  const findReported = async (call: Call<{ sessionId: string }>) =>
    reportSession(reading, call.principal.tenant, await find(call));
  const resultsOf = async (call: Call<{ sessionId: string }>) => {
    const { session, report } = await findReported(call);
    return shownResults(session, report, { durationMs: durationOf(session, clock.now()), publicUrl });
  };

  return [
    route('GET', '/ghost/:sessionId/results', {
      ...common,
      operationId: 'ghostResults',
      summary: 'Get the results of a ghost session',
      description: 'While it plays, the results so far, with `resultsPartial: true`.',
      params: SessionParams,
      refuses: ['GHOST_NOT_FOUND', 'LEVEL_NOT_FOUND'],
      responses: ok('The results.', Results, examples.results),
      handler: async (call) => ({ body: await resultsOf(call) }),
    }),
    route('GET', '/ghost/:sessionId/junit', {
      ...common,
      operationId: 'ghostJunit',
      summary: 'Get the tests of a ghost session as JUnit XML',
      ext: true,
      params: SessionParams,
      refuses: ['GHOST_NOT_FOUND', 'LEVEL_NOT_FOUND'],
      responses: { 200: { description: 'The tests.', contentType: XML } },
      handler: async (call) => ({ raw: { type: XML, content: junitOf(await resultsOf(call)) } }),
    }),
    route('GET', '/ghost/:sessionId/steps', {
      ...common,
      operationId: 'ghostSteps',
      summary: 'List the steps of a ghost session',
      ext: true,
      params: SessionParams,
      query: Type.Object({
        from: Type.Optional(Type.Integer({ minimum: 1, description: 'The first step; steps count from 1.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'How many steps to return.' })),
      }),
      refuses: ['GHOST_NOT_FOUND'],
      responses: ok('One page; continue from `next`.', GhostSteps, examples.steps),
      handler: async (call) => {
        const session = await find(call);
        const { sessionId } = session;
        const { from = 1, limit = DEFAULT_STEPS } = call.query;
        const stream = ghostStepsStream(call.principal.tenant, sessionId);
        const { steps, next } = await readSteps(events, stream, { from, limit });
        return {
          body: {
            sessionId,
            ...defined({ next: next ?? undefined }),
            steps: await shownSteps(reading, { ...session, tenant: call.principal.tenant }, steps),
          },
        };
      },
    }),
    route('GET', '/ghost/:sessionId/picture', {
      ...common,
      operationId: 'ghostPicture',
      summary: 'Get a picture of the path of a ghost through its level',
      ext: true,
      params: SessionParams,
      query: Type.Object({
        format: Type.Optional(
          Type.Unsafe<'svg' | 'png'>({
            type: 'string',
            enum: ['svg', 'png'],
            default: 'svg',
          }),
        ),
      }),
      refuses: ['GHOST_NOT_FOUND', 'LEVEL_NOT_FOUND'],
      responses: { 200: { description: 'The picture. A PNG has no legend.', contentType: SVG, orType: PNG } },
      enter: ({ principal }) => searches.acquire(principal.tenant),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { session, report } = await findReported(call);
        const { level } = await settingFor(deps, { ...session, tenant });
        const stream = ghostStepsStream(tenant, session.sessionId);
        const journeyOfSession = session.driver === 'remote' ? remoteJourney : journeyOf;
        const journey = await journeyOfSession(events, stream, level, report);
        await yieldToEventLoop();
        return call.query.format === 'png'
          ? { raw: { type: PNG, content: await pngPicture(rasterOf(level, journey)) } }
          : { raw: { type: SVG, content: pictureOf(level, journey) } };
      },
    }),
    route('GET', '/ghost/:sessionId/findings/:n/repro', {
      ...common,
      operationId: 'ghostRepro',
      summary: 'Get the shortest known reproduction of a finding',
      description: 'The search takes up to 10 seconds. If `minimal` is false, repeat the request to continue it.',
      ext: true,
      params: Type.Object({ ...SessionParams.properties, n: pathId('The number of the finding, `n`.', '1') }),
      refuses: ['GHOST_NOT_FOUND', 'FINDING_NOT_FOUND', 'LEVEL_NOT_FOUND', 'GHOST_RUNNING'],
      responses: ok('A reproduction; send it to `POST /ghost/replay`.', GhostReproduction, examples.reproduction),
      enter: ({ principal }) => searches.acquire(principal.tenant),
      handler: async (call) => {
        const { tenant } = call.principal;
        const { session, report } = await findReported(call);
        const finding = report.findings.find(({ n }) => String(n) === call.params.n);
        return {
          body: await reproduce({ ...deps, pace: ghostPace(tenant) }, { tenant, session, finding }, clientSignal(call)),
        };
      },
    }),
    route('POST', '/ghost/replay', {
      ...common,
      operationId: 'replayGhost',
      summary: 'Play a reproduction',
      description: 'Nothing is recorded, and no session is created.',
      ext: true,
      bodyLimit: MAX_ARCHIVED_BYTES,
      body: ReplayGhostRequest,
      example: examples.replay,
      refuses: ['REPRO_INVALID'],
      responses: ok(
        'Whether the finding was reproduced, and everything that was found.',
        ReplayedGhost,
        examples.replayed,
      ),
      enter: ({ principal }) => searches.acquire(principal.tenant),
      handler: async (call) => {
        const brought = { ...call.body, map: call.body.map ?? null };
        const pace = ghostPace(call.principal.tenant);
        return { body: await replayReproduction({ levels, pace, clock }, brought, clientSignal(call)) };
      },
    }),
    route('GET', '/ghost/:sessionId/compare/:otherId', {
      ...common,
      operationId: 'compareGhosts',
      summary: 'Compare the findings of two ghost sessions',
      ext: true,
      params: Type.Object({
        ...SessionParams.properties,
        otherId: pathId('The id of the second session.', 'g0_mwzc2uys_ndvczMhMUht_tyb2'),
      }),
      refuses: ['GHOST_NOT_FOUND', 'GHOST_RUNNING', 'LEVEL_NOT_FOUND'],
      responses: ok(
        'The findings that are new, gone and unchanged in the second session, and the metrics of both.',
        GhostComparison,
        examples.comparison,
      ),
      handler: async (call) => {
        const { sessionId, otherId } = call.params;
        const { tenant } = call.principal;
        const one = await findReported(call);
        const other = await reportSession(reading, tenant, await readGhost(reading, tenant, otherId));
        return { body: { sessionId, otherId, ...compareSessions(one.session, other.session) } };
      },
    }),
  ];
};
