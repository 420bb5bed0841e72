import { createMindRequest, type CallOptions, type MindRequestOptions } from './mind-request.js';
import type { GhostResults, GhostStatus, GhostStepsPage, JsonMembers, StepAnswer, StepRequest } from './protocol.js';

/** Lets a game play its own ghost sessions. Every method throws a `MindError` if it has no response to return. */
export type GhostClient = {
  /** Begins a session whose body is this game. */
  run(
    asked: { readonly goal: string } & JsonMembers,
    call?: CallOptions,
  ): Promise<{ readonly id: string; readonly seed: number }>;
  /** One step of a turn of the session's ghost. `GHOST_OVER`: there is nothing more to do. */
  process(sessionId: string, step: StepRequest, call?: CallOptions): Promise<StepAnswer>;
  status(sessionId: string): Promise<GhostStatus>;
  results(sessionId: string): Promise<GhostResults>;
  /** The steps from this one on; `next` is where to continue. */
  steps(sessionId: string, from: number): Promise<GhostStepsPage>;
  stop(sessionId: string): Promise<void>;
  putLevel(levelId: string, map: JsonMembers): Promise<void>;
  /** The Tiled map of a level; `version` null: the newest. */
  levelMap(levelId: string, version: number | null): Promise<JsonMembers>;
};

/** Makes a client of one mind server with one API key (scope `ghosts`). Timeout 15 s per call; no repeats without an Idempotency-Key. */
export const createGhostClient = (options: MindRequestOptions): GhostClient => {
  const request = createMindRequest(options);
  const sessionPath = (sessionId: string): string => `/ghost/${encodeURIComponent(sessionId)}`;
  const levelPath = (levelId: string): string => `/levels/${encodeURIComponent(levelId)}`;
  return {
    run: async (asked, call) =>
      (await request('POST', '/v1/ghost/run', { ...asked, driver: 'remote' }, call)) as { id: string; seed: number },
    process: async (sessionId, step, call) =>
      (await request('POST', `${sessionPath(sessionId)}/process`, step, call)) as StepAnswer,
    status: async (sessionId) => (await request('GET', `${sessionPath(sessionId)}/status`)) as GhostStatus,
    results: async (sessionId) => (await request('GET', `${sessionPath(sessionId)}/results`)) as GhostResults,
    steps: async (sessionId, from) =>
      (await request('GET', `${sessionPath(sessionId)}/steps?from=${String(from)}&limit=500`)) as GhostStepsPage,
    stop: async (sessionId) => {
      await request('POST', `${sessionPath(sessionId)}/stop`, {});
    },
    putLevel: async (levelId, map) => {
      await request('PUT', levelPath(levelId), map);
    },
    levelMap: async (levelId, version) => {
      const query = version === null ? '' : `?version=${String(version)}`;
      const { map } = (await request('GET', `${levelPath(levelId)}${query}`)) as { readonly map: JsonMembers };
      return map;
    },
  };
};
