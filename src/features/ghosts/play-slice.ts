import { LRUCache } from 'lru-cache';

import type { CommandContext } from '../../kernel/base/command-context.js';
import { ghostStepsStream } from '../../kernel/base/stream-names.js';
import { weightOf } from '../../kernel/base/weight.js';
import { type Json, jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { GhostInput, GhostSetting } from '../../../workflows/ghost-session.js';
import type { Levels } from '../levels/levels.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { RequestGhostText } from './call-engines.js';
import { atPace, type Pace, timedPace } from './pace.js';
import {
  beginSession,
  beginStep,
  isPlayed,
  playStep,
  replayStep,
  type SessionState,
  type Setting,
  settingOf,
  type TakenStep,
  withTime,
} from './session.js';
import { CHECKPOINT_STEPS, lastStep, recordStep, stepsSinceCheckpoint } from './steps-log.js';

/** Why a session without its level cannot continue. */
export const LEVEL_LOST = 'The level of this session no longer exists.';
/** How much is played between two of a session's own events, whichever limit comes first. */
export const SLICE_MS = 3_000;
const SLICE_STEPS = 2_000;
/** The limit of a session's state in a checkpoint, in bytes of JSON: it shares an event with the step. */
const CHECKPOINT_BYTES = 600_000;
/** How many sessions a process caches between their slices. */
const KEPT_SESSIONS = 256;
/** How much memory they may take, in bytes as counted by `weightOf`. */
const KEPT_BYTES = 128 * 1024 * 1024;

export type PlayDeps = {
  readonly writers: StreamWriters;
  readonly events: Pick<EventStore, 'read'>;
  readonly clock: Clock;
  readonly levels: Levels;
  readonly pace: Pace;
  readonly kept: SessionCache;
  readonly callEngine: RequestGhostText;
};

/** The states of the sessions of this process; missing ones are read from their streams. */
export type SessionCache = LRUCache<string, SessionState>;
export const createSessionCache = (): SessionCache =>
  new LRUCache({ max: KEPT_SESSIONS, maxSize: KEPT_BYTES, sizeCalculation: (state) => weightOf(state) });

export type PlayedSession = GhostSetting & { readonly tenant: string; readonly sessionId: string };

/** On whose behalf steps are recorded. */
export const sessionContext = ({ tenant, sessionId }: PlayedSession): CommandContext => ({
  tenant,
  actor: 'system',
  commandId: sessionId,
  correlationId: sessionId,
  causationId: null,
});

/** The key of a session in the cache of a process. */
export const sessionKey = ({ tenant, sessionId }: PlayedSession): string => `${tenant} ${sessionId}`;

export const stepsStreamOf = ({ tenant, sessionId }: PlayedSession): string => ghostStepsStream(tenant, sessionId);

/**
 * The setting of a session, with its level as it was when the session was requested.
 * @throws Rejection LEVEL_NOT_FOUND if it is lost; errors from the levels
 */
export const settingFor = async (
  { levels }: Pick<PlayDeps, 'levels'>,
  session: Omit<PlayedSession, 'sessionId'>,
): Promise<Setting> => {
  const level = await levels.levelOf(session.level, session.seed);
  if (level === null) throw new Rejection('LEVEL_NOT_FOUND', { message: LEVEL_LOST });
  return settingOf(level, session);
};

/** For `catch`: null if the level of a session is lost, which cannot be repaired. @throws every other error */
export const nullWhenLevelLost = (error: unknown): null => {
  if (error instanceof Rejection && error.code === 'LEVEL_NOT_FOUND') return null;
  throw error;
};

/** A session folded from its recorded steps, starting from the known ones. Propagates errors from the levels and the event store. */
export const loadSession = async (
  { events, levels, pace }: Pick<PlayDeps, 'events' | 'levels' | 'pace'>,
  session: PlayedSession,
  known?: SessionState,
): Promise<{ readonly setting: Setting; readonly state: SessionState }> => {
  const setting = await settingFor({ levels }, session);
  let state = known ?? (await pace(() => beginSession(setting)));
  for await (const step of stepsSinceCheckpoint(events, stepsStreamOf(session), known?.step)) {
    if (step.checkpoint !== undefined) state = step.checkpoint as unknown as SessionState;
    // One at a time: in a large level, one may search for some milliseconds.
    else state = await pace(() => replayStep(setting, state, step));
  }
  return { setting, state };
};

/** The current state of a session: from memory, plus steps recorded since then by others. Propagates errors from the levels and the event store. */
export const presentSession = async (
  deps: Pick<PlayDeps, 'events' | 'levels' | 'pace' | 'kept'>,
  session: PlayedSession,
): Promise<{ readonly setting: Setting; readonly state: SessionState }> => {
  const key = sessionKey(session);
  const known = deps.kept.get(key);
  if (known !== undefined && (await lastStep(deps.events, stepsStreamOf(session))) === known.step)
    return { setting: await settingFor(deps, session), state: known };
  const loaded = await loadSession(deps, session, known);
  // A caller that looks at a session of another process will look again soon.
  if (loaded.state.step > (deps.kept.peek(key)?.step ?? -1)) deps.kept.set(key, loaded.state);
  return loaded;
};

/** @throws Rejection DATA_TOO_LARGE if its minds hold more data than a session may continue with */
const checkpointOf = (state: SessionState): Json => {
  const checkpoint = state as unknown as Json;
  if (jsonBytes(checkpoint) <= CHECKPOINT_BYTES) return checkpoint;
  throw new Rejection('DATA_TOO_LARGE', { message: 'The NPCs of this session exceed the data limit of a session.' });
};

/**
 * Plays the next step. An engine is asked outside the pace, because waiting for it takes no processor time. Propagates errors from the engine, and the
 * reason of the signal.
 */
const playNext = async (
  { callEngine, pace }: Pick<PlayDeps, 'callEngine' | 'pace'>,
  { tenant, sessionId, engine }: PlayedSession,
  { setting, state }: { readonly setting: Setting; readonly state: SessionState },
  signal: AbortSignal,
): Promise<TakenStep> => {
  const { policy } = setting;
  if (policy !== null) return atPace(pace, playStep(setting, state, policy));
  if (engine === undefined) throw new Error('a session without an engine has no policy');
  const { asked, finish } = await atPace(pace, beginStep(setting, state));
  const text = await callEngine({ tenant, sessionId, engine, step: state.step }, asked, signal);
  return atPace(pace, finish({ text }, state.plan));
};

/**
 * Plays the next steps of a session, each recorded before the next one begins, until the slice or the session is over. If another process plays the
 * same session, one of them is overtaken and continues from the record. Raises the reason of the signal, and errors from the levels, the event store
 * and the engine.
 */
export const playSlice = async (deps: PlayDeps, session: PlayedSession, signal: AbortSignal): Promise<GhostInput> => {
  const { callEngine, clock, kept, writers, pace } = deps;
  const stream = stepsStreamOf(session);
  const by = sessionContext(session);
  const untilMs = clock.monotonicMs() + SLICE_MS;
  let loaded = await presentSession(deps, session);
  const firstStep = loaded.state.step;
  for (;;) {
    const { setting, state } = loaded;
    if (isPlayed(setting, state)) return { type: 'played', step: state.step, over: true };
    if (clock.monotonicMs() >= untilMs || state.step - firstStep >= SLICE_STEPS)
      return { type: 'played', step: state.step, over: false };
    signal.throwIfAborted();
    const { pace: timed, tookMs } = timedPace(pace, clock);
    const played = await playNext({ callEngine, pace: timed }, session, loaded, signal);
    const ms = tookMs();
    const next = withTime(played.state, ms);
    const isDue = next.step % CHECKPOINT_STEPS === 0;
    const data = { ...played.record, ms, ...(isDue ? { checkpoint: checkpointOf(next) } : {}) };
    // Cached again once it is recorded: if an append fails, the record shows whether it was written, and its text is not requested again.
    kept.delete(sessionKey(session));
    const outcome = await recordStep(writers, stream, by, state.step, { type: 'GhostStepped', data });
    // Only the session's own events end it: the effect that plays is then aborted.
    if (outcome === 'closed') return { type: 'played', step: state.step, over: true };
    loaded = outcome === 'recorded' ? { setting, state: next } : await loadSession(deps, session);
    kept.set(sessionKey(session), loaded.state);
  }
};
