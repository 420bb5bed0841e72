import { Type } from '@sinclair/typebox';

import { compareSessions } from '../compare.js';
import { journeyOf, remoteJourney } from '../journey.js';
import type { SharedPace } from '../pace.js';
import { shownSteps } from '../shown-steps.js';
import { pngPicture } from '../png-picture.js';
import { type SessionCache, settingFor } from '../play-slice.js';
import { replayReproduction } from '../replay-reproduction.js';
import { reportSession } from '../report.js';
import { createSearches, REPRO_FORMAT, reproduce, SCRIPT_TEXTS } from '../reproduce.js';
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
import type { ProtocolProbe } from '../domain/policy.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Json } from '../../../kernel/base/json.js';
import { ghostStepsStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { MAX_ARCHIVED_BYTES } from '../../../ports/soul-archive.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { durationOf, NamedGoal, LevelShown, Results, shownResults } from './shown-results.js';
import { type Call, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { FreeObject, nullable } from '../../../kernel/http/schemas.js';
import { SessionParams } from './sessions.js';

const DEFAULT_STEPS = 100;
/** How many searches for a reproduction, and replays of one, a process runs at once. */
const SEARCHES = 4;
const TENANT_SEARCHES = 2;
/** The longest string in a script, in characters: a turn accepts no more. */
const TEXT_CHARS = 524_288;
const SVG = 'image/svg+xml';
const PNG = 'image/png';
const XML = 'application/xml';

const Probe = Type.Unsafe<ProtocolProbe>({ type: 'string', enum: ['repeat_step', 'stale_step', 'contradicting_tape'] });
const Script = Type.Array(Type.Object({ text: Type.String({ maxLength: TEXT_CHARS }), probe: Type.Optional(Probe) }), {
  maxItems: SCRIPT_TEXTS,
});
const Finding = Type.Object({ kind: Type.String(), subject: Type.String(), detail: Type.Optional(Type.String()) });
const reproduction = {
  format: Type.Literal(REPRO_FORMAT),
  finding: Finding,
  level: LevelShown,
  seed: Type.Integer(),
  engine: Type.Optional(
    Type.Boolean({ description: 'Whether an engine said the texts: it is told more than a policy.' }),
  ),
  script: Script,
};

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
  // Who reads does not wait for what is played.
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
      summary: 'What a session has found',
      description: 'While it plays, the figures so far, with `resultsPartial: true`.',
      params: SessionParams,
      responses: ok('The results.', Results),
      handler: async (call) => ({ body: await resultsOf(call) }),
    }),
    route('GET', '/ghost/:sessionId/junit', {
      ...common,
      operationId: 'ghostJunit',
      summary: 'The tests of a session as JUnit XML, for a pipeline',
      ext: true,
      params: SessionParams,
      responses: { 200: { description: 'The tests.', contentType: XML } },
      handler: async (call) => ({ raw: { type: XML, content: junitOf(await resultsOf(call)) } }),
    }),
    route('GET', '/ghost/:sessionId/steps', {
      ...common,
      operationId: 'ghostSteps',
      summary: 'What a session did, step by step',
      ext: true,
      params: SessionParams,
      query: Type.Object({
        from: Type.Optional(Type.Integer({ minimum: 1, description: 'The first step to show; steps count from 1.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
      }),
      responses: ok(
        'The steps; `next` is where the following ones begin.',
        Type.Object({
          sessionId: Type.String(),
          next: Type.Optional(Type.Integer()),
          steps: Type.Array(FreeObject),
        }),
      ),
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
      summary: 'The level with the way of the ghost through it, as SVG or PNG',
      ext: true,
      params: SessionParams,
      query: Type.Object({
        format: Type.Optional(
          Type.Unsafe<'svg' | 'png'>({
            type: 'string',
            enum: ['svg', 'png'],
            description: 'svg, when it is left out.',
          }),
        ),
      }),
      responses: { 200: { description: 'The picture; a PNG has no legend.', contentType: SVG, orType: PNG } },
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
      summary: 'The shortest way that is known to lead to a finding',
      description: 'The search takes 10 s at most; with `minimal: false` a repeat goes on from there.',
      ext: true,
      params: Type.Object({ sessionId: Type.String(), n: Type.String() }),
      responses: ok(
        'What `POST /ghost/replay` takes.',
        Type.Object({
          ...reproduction,
          sessionId: Type.String(),
          map: Type.Unsafe<Json>({ description: 'The Tiled map of a registered level, else null.' }),
          goal: Type.String(),
          steps: Type.Integer(),
          minimal: Type.Boolean(),
        }),
      ),
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
      summary: 'Play a reproduction again, without a session',
      ext: true,
      bodyLimit: MAX_ARCHIVED_BYTES,
      body: Type.Object({ ...reproduction, goal: Type.Optional(NamedGoal), map: nullable(FreeObject) }),
      responses: ok(
        'Whether the finding came about, and all that was found.',
        Type.Object({
          reproduced: Type.Boolean(),
          findings: Type.Array(FreeObject),
          steps: Type.Integer(),
        }),
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
      summary: 'What a second session found and the first did not, and the reverse',
      ext: true,
      params: Type.Object({ sessionId: Type.String(), otherId: Type.String() }),
      responses: ok(
        'The findings that came, went and stayed, and the figures of both.',
        Type.Object({
          sessionId: Type.String(),
          otherId: Type.String(),
          comparable: Type.Boolean(),
          added: Type.Array(FreeObject),
          gone: Type.Array(FreeObject),
          kept: Type.Array(FreeObject),
          metrics: Type.Array(Type.Array(Type.Unsafe<string | number>({ type: ['string', 'number'] }))),
        }),
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
