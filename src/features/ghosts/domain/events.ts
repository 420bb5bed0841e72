import { decoderOf } from '../../../kernel/base/decoder.js';
import type { Action } from '../../rules/domain/bridge/action.js';
import type { LevelRef } from '../../levels/domain/ref.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Finding } from './findings.js';
import type { GhostGoal, ProtocolProbe } from './policy.js';
import type { RemoteStep } from './remote-play.js';
import type { GhostTest } from './results.js';

/** Who plays: this server or a remote body. */
export const ghostDrivers = ['local', 'remote'] as const;
export type GhostDriver = (typeof ghostDrivers)[number];

type OfSession = { readonly sessionId: string };

/** The request of a session, fixed at acceptance. `steps` is its budget. */
export type GhostPlan = {
  readonly goal: GhostGoal;
  /** The suite as the client named it; null if it named a goal. */
  readonly suite: string | null;
  readonly level: LevelRef;
  readonly seed: number;
  readonly steps: number;
  readonly timeoutMs: number;
  readonly deadlineAt: string;
  /** The id of the engine that produces the ghost's texts; absent if the goal's policy does. */
  readonly engine?: string;
  /** Absent means this server. */
  readonly driver?: 'remote';
};

export type GhostEnding = 'completed' | 'failed' | 'stopped';

/** The contents of a report: the figures of the results. */
export type GhostReport = {
  readonly step: number;
  readonly findings: readonly Finding[];
  readonly tests: readonly GhostTest[];
  readonly metrics: readonly (readonly [string, number])[];
  readonly coverage: number;
};

/** The events of a ghost session. The shapes are storage: they never change and are only upcast (docs/adr/0004). */
export type GhostEvent =
  | { type: 'GhostRequested'; data: OfSession & GhostPlan }
  | { type: 'GhostBegun'; data: OfSession }
  /** A slice of steps was played; `step` is the number of steps so far. */
  | { type: 'GhostPlayed'; data: OfSession & { readonly step: number } }
  | {
      type: 'GhostEnded';
      data: OfSession & { readonly ending: GhostEnding; readonly timedOut: boolean; readonly reason: string | null };
    }
  | { type: 'GhostReported'; data: OfSession & GhostReport };

/** A turn of one of the minds of a session, as its events; values that can be derived from them (instructions, prompts) are left out. */
export type PlayedTurn = {
  readonly npcId: string;
  readonly events: readonly { readonly type: string; readonly version: number; readonly data: JsonObject }[];
};

/** The events of a session's steps: one for each step and one that ends them. */
export type GhostStepEvent =
  | {
      type: 'GhostStepped';
      data: {
        readonly step: number;
        readonly turns: readonly PlayedTurn[];
        /** The action that the ghost was allowed to take; null if its mind refused. */
        readonly action: Action | null;
        readonly outcome: JsonObject | null;
        /** What the session tried against the protocol in addition to the turn, and what it found wrong. */
        readonly probe?: ProtocolProbe;
        readonly error?: string;
        /** For a session with a remote body: everything that is counted of the step. */
        readonly remote?: RemoteStep;
        /** How long this server worked on it, in milliseconds; absent in older events. */
        readonly ms?: number;
        /** Everything needed to continue playing, in some of the events. */
        readonly checkpoint?: Json;
      };
    }
  /** No step follows. */
  | { type: 'GhostStepsClosed'; data: { readonly step: number } };

/** The decoder of ghost sessions. */
export const ghostEvents = decoderOf<GhostEvent>({
  GhostRequested: [],
  GhostBegun: [],
  GhostPlayed: [],
  GhostEnded: [],
  GhostReported: [],
});

/** The decoder of their steps. */
export const ghostStepEvents = decoderOf<GhostStepEvent>({ GhostStepped: [], GhostStepsClosed: [] });
