import type { CommandContext } from '../../kernel/base/command-context.js';
import { defined } from '../../kernel/base/defined.js';
import { makeProcessId, parseProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { ghostStream } from '../../kernel/base/stream-names.js';
import type { GhostGoal } from './domain/policy.js';
import type { GhostDriver } from './domain/events.js';
import { budgetOf } from './domain/policies.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessRuntime, ProcessRef } from '../../ports/process-runtime.js';
import { ghostSession, type GhostAnswer, type GhostInput, type GhostState } from '../../../workflows/ghost-session.js';
import type { Engines } from '../engines/engines.js';
import { parseCommandId } from '../../kernel/streams/command-id.js';
import type { Levels } from '../levels/levels.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { chooseGhostEngine } from './ghost-engine.js';

export type GhostDeps = {
  readonly runtime: ProcessRuntime;
  readonly repository: ProcessRepository;
  readonly clock: Pick<Clock, 'now'>;
  readonly levels: Levels;
  readonly engines: Pick<Engines, 'find' | 'engineOf'>;
};

/** A requested session. */
export type GhostSession = GhostAnswer;

/** A client's request; `level` by its name; the server chooses a seed if none is given. */
export type GhostRequest = {
  readonly tenant: string;
  readonly goal: GhostGoal;
  readonly suite: string | null;
  readonly level: string | undefined;
  readonly seed: number | undefined;
  readonly steps: number | undefined;
  readonly timeoutMs: number;
  /** The engine that produces the ghost's texts, by name; without one, the goal's policy. */
  readonly engine: string | undefined;
  readonly driver: GhostDriver;
  readonly by: CommandContext;
};

/** A session, with its position in the global order. */
export type PositionedSession = { readonly session: GhostAnswer; readonly revision: number; readonly position: number };

/** The process of a session. */
export const ghostRef = (tenant: string, id: string): ProcessRef => ({
  process: ghostSession.name,
  id,
  stream: ghostStream(tenant, id),
});

/** How long a level is kept after its session's time limit, in milliseconds: the report may be delayed, and a client may look at the picture. */
const LEVEL_KEPT_MS = 86_400_000;
/** The number of seeds that the server chooses from: they fit into a signed 32-bit integer, and are short to type. */
const SEEDS = 1_000_000;

/** A seed from the id of the command: a repeat gets the same. */
const seedOf = (commandId: string): number => {
  let hash = 0;
  for (const char of commandId) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % SEEDS;
  return hash;
};

/**
 * Accepts a session, which then runs in the background. A repeat of the same command finds the same session.
 * @throws Rejection as `chooseGhostEngine`, and what the levels and ProcessRuntime.ask raise
 */
export const runGhost = async (
  { runtime, engines, clock, levels }: Omit<GhostDeps, 'repository'>,
  asked: GhostRequest,
): Promise<PositionedSession> => {
  const { tenant, goal, suite, timeoutMs, driver, by } = asked;
  const speaks = chooseGhostEngine(engines, tenant, asked.engine);
  const seed = asked.seed ?? seedOf(by.commandId);
  const { level, ref: levelRef } = await levels.openLevel(tenant, asked.level, seed);
  const nowMs = clock.now().getTime();
  await levels.keepForSession(tenant, { level, ref: levelRef }, new Date(nowMs + timeoutMs + LEVEL_KEPT_MS));
  // From the command alone: a repeat after a crash finds the session that the first attempt began.
  const sessionId = makeProcessId('g', 0, parseCommandId(by.commandId).timeMs, by.commandId);
  const request: GhostInput = {
    type: 'request',
    sessionId,
    goal,
    suite,
    level: levelRef,
    seed,
    steps: asked.steps ?? budgetOf(goal, level),
    timeoutMs,
    deadlineAt: new Date(nowMs + timeoutMs).toISOString(),
    ...defined({ engine: speaks }),
    ...(driver === 'remote' ? { driver } : {}),
  };
  const { answer, revision, position } = await runtime.ask(ghostRef(tenant, sessionId), [request], by);
  return { session: answer as GhostAnswer, revision, position };
};

/** A session of this tenant. @throws Rejection GHOST_NOT_FOUND, and errors from the event store */
export const findGhost = async (
  { repository }: Pick<GhostDeps, 'repository'>,
  tenant: string,
  sessionId: string,
): Promise<GhostAnswer> => {
  if (parseProcessId(sessionId) === null) throw new Rejection('GHOST_NOT_FOUND');
  const { state } = await repository.load(ghostSession, ghostRef(tenant, sessionId));
  const known = state as GhostState;
  if (known.name === 'new') throw new Rejection('GHOST_NOT_FOUND');
  return known;
};

/** Stops a session; a session that has ended does not change. @throws Rejection GHOST_NOT_FOUND, and as ProcessRuntime.ask */
export const stopGhost = async (
  deps: Pick<GhostDeps, 'runtime' | 'repository'>,
  tenant: string,
  sessionId: string,
  by: CommandContext,
): Promise<PositionedSession> => {
  await findGhost(deps, tenant, sessionId);
  const { answer, revision, position } = await deps.runtime.ask(ghostRef(tenant, sessionId), [{ type: 'stop' }], by);
  return { session: answer as GhostAnswer, revision, position };
};
