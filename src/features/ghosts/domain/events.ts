import { decoderOf } from '../../../kernel/base/decoder.js';
import type { Action } from '../../rules/domain/bridge/action.js';
import type { LevelRef } from '../../levels/domain/ref.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Finding } from './findings.js';
import type { GhostGoal, ProtocolProbe } from './policy.js';
import type { RemoteStep } from './remote-play.js';
import type { GhostTest } from './results.js';

/** Who plays: this server or a body elsewhere. */
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
  /** Absent: this server. */
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

/** The events of a ghost session. Shapes are storage: never changed, only upcast (docs/adr/0004). */
export type GhostEvent =
  | { type: 'GhostRequested'; data: OfSession & GhostPlan }
  | { type: 'GhostBegun'; data: OfSession }
  /** A slice of steps was played; `step` is how many there are. */
  | { type: 'GhostPlayed'; data: OfSession & { readonly step: number } }
  | {
      type: 'GhostEnded';
      data: OfSession & { readonly ending: GhostEnding; readonly timedOut: boolean; readonly reason: string | null };
    }
  | { type: 'GhostReported'; data: OfSession & GhostReport };

/** A turn of one of the minds of a session, as its events; what follows from them (instructions, prompts) is left out. */
export type PlayedTurn = {
  readonly npcId: string;
  readonly events: readonly { readonly type: string; readonly version: number; readonly data: JsonObject }[];
};

/** The events of a session's steps, one for each step and one that ends them. */
export type GhostStepEvent =
  | {
      type: 'GhostStepped';
      data: {
        readonly step: number;
        readonly turns: readonly PlayedTurn[];
        /** What the ghost was allowed to do; null when its mind refused. */
        readonly action: Action | null;
        readonly outcome: JsonObject | null;
        /** What the session tried of the protocol beside the turn, and what it found wrong. */
        readonly probe?: ProtocolProbe;
        readonly error?: string;
        /** Of a session that has a body elsewhere: all that is counted of the step. */
        readonly remote?: RemoteStep;
        /** How long this server worked on it, in milliseconds; absent in older ones. */
        readonly ms?: number;
        /** Everything that playing on needs, every now and then. */
        readonly checkpoint?: Json;
      };
    }
  /** No step follows. */
  | { type: 'GhostStepsClosed'; data: { readonly step: number } };

/** The events of ghost sessions. */
export const ghostEvents = decoderOf<GhostEvent>({
  GhostRequested: [],
  GhostBegun: [],
  GhostPlayed: [],
  GhostEnded: [],
  GhostReported: [],
});

/** The events of their steps. */
export const ghostStepEvents = decoderOf<GhostStepEvent>({ GhostStepped: [], GhostStepsClosed: [] });
