import { checkpointEffects } from '../../activities/effects/checkpoint.js';
import { agentTurnEffects } from '../../activities/effects/agent-turn.js';
import type { ProcessWithEffects, ProcessEffects } from '../kernel/processes/process-effects.js';
import type { EngineWaits } from '../features/engines/engine-waits.js';
import type { Services } from '../roles/services.js';
import type { Log } from '../ports/log.js';
import type { CheckpointReceiver } from '../ports/checkpoint-receiver.js';
import type { AnyStateMachine } from '../kernel/processes/state-machine.js';
import { checkpoint } from '../../workflows/checkpoint.js';
import { soulExportEffects } from '../../activities/effects/soul-export.js';
import { soulImportEffects } from '../../activities/effects/soul-import.js';
import { ghostSessionEffects, prepareGhostTurn } from '../../activities/effects/ghost-session.js';
import { turnEffects } from '../../activities/effects/turn.js';
import { replayEffects } from '../../activities/effects/replay.js';
import type { ReplayHands } from '../features/replays/replay-slice.js';
import { ghostSession } from '../../workflows/ghost-session.js';
import { replay } from '../../workflows/replay.js';
import { soulExport } from '../../workflows/soul-export.js';
import { soulImport } from '../../workflows/soul-import.js';
import { agentTurn } from '../../workflows/agent-turn.js';
import { turn } from '../../workflows/turn/turn.js';

/** The open resources of a server for the steps of its processes. `issuer` is the `iss` claim of verdicts. */
export type EffectsDeps = Pick<
  Services,
  | 'ports'
  | 'writers'
  | 'repository'
  | 'checks'
  | 'rulesets'
  | 'signingKeys'
  | 'recall'
  | 'engines'
  | 'liveTexts'
  | 'archives'
  | 'levels'
  | 'ghostEngines'
  | 'ghostPace'
  | 'ghostPlays'
  | 'ghostSessions'
> & {
  readonly issuer: string;
  /** Where the turns of agents wait for an engine that is down. */
  readonly engineWaits: EngineWaits;
  /** Re-evaluates decisions in this process. */
  readonly replayHands: ReplayHands;
  /** The external receiver of checkpoints, or null. */
  readonly checkpointReceiver: CheckpointReceiver | null;
  readonly log: Pick<Log, 'warn'>;
};

/** All processes: the state machine of each, and what its steps need. A new process is one line here. */
export const allProcesses: readonly {
  readonly process: AnyStateMachine;
  readonly effects: (deps: EffectsDeps) => ProcessEffects;
}[] = [
  { process: turn, effects: (deps) => turnEffects(deps, prepareGhostTurn(deps)) },
  { process: soulExport, effects: soulExportEffects },
  { process: soulImport, effects: soulImportEffects },
  { process: ghostSession, effects: ghostSessionEffects },
  { process: replay, effects: (deps) => replayEffects(deps) },
  { process: checkpoint, effects: checkpointEffects },
  {
    process: agentTurn,
    effects: (deps) => agentTurnEffects({ ...deps, engineOf: (tenant) => deps.engines.engineOf(tenant) }),
  },
];

/** The processes of a server by name. */
export const processesOf = (deps: EffectsDeps): Readonly<Record<string, ProcessWithEffects>> =>
  Object.fromEntries(allProcesses.map(({ process, effects }) => [process.name, { ...effects(deps), process }]));
