import { checkpointHost } from '../app/audit/checkpoint-host.js';
import { agentHost } from '../app/agents/agent-host.js';
import type { HostedProcess, ProcessHost } from '../app/processes/hosted-process.js';
import type { Services } from '../http/services.js';
import type { CheckpointReceiver } from '../ports/checkpoint-receiver.js';
import type { AnyProcess } from '../../workflows/process.js';
import { checkpoint } from '../../workflows/checkpoint.js';
import { exportHost } from '../app/souls/export-host.js';
import { importHost } from '../app/souls/import-host.js';
import { ghostHost, prepareGhostTurn } from '../app/ghosts/ghost-host.js';
import { turnHost } from '../app/turns/turn-host.js';
import { replayHost } from '../app/replays/replay-host.js';
import type { ReplayHands } from '../app/replays/replay-slice.js';
import { ghostSession } from '../../workflows/ghost-session.js';
import { replay } from '../../workflows/replay.js';
import { soulExport } from '../../workflows/soul-export.js';
import { soulImport } from '../../workflows/soul-import.js';
import { agentTurn } from '../../workflows/agent-turn.js';
import { turn } from '../../workflows/turn/turn.js';

/** What a server has open when it makes its hosts; each takes of it what it needs. `issuer`: `iss` of verdicts (contract 2.9). */
export type HostDeps = Pick<
  Services,
  | 'ports'
  | 'lanes'
  | 'rulesets'
  | 'signingKeys'
  | 'recall'
  | 'engines'
  | 'archives'
  | 'levels'
  | 'ghostEngines'
  | 'ghostPace'
  | 'ghostPlays'
  | 'ghostSessions'
> & {
  readonly issuer: string;
  /** What takes decisions again in this process (contract 10.3). */
  readonly replayHands: ReplayHands;
  /** Who keeps checkpoints outside; null: nobody (contract 10.5). */
  readonly checkpointReceiver: CheckpointReceiver | null;
};

/** Every process there is: its table, and what makes its host. A new one is a line here. */
export const hosts: readonly { readonly process: AnyProcess; readonly host: (deps: HostDeps) => ProcessHost }[] = [
  { process: turn, host: (deps) => turnHost(deps, prepareGhostTurn(deps)) },
  { process: soulExport, host: exportHost },
  { process: soulImport, host: importHost },
  { process: ghostSession, host: ghostHost },
  { process: replay, host: (deps) => replayHost(deps) },
  { process: checkpoint, host: checkpointHost },
  { process: agentTurn, host: (deps) => agentHost({ ...deps, engineOf: (tenant) => deps.engines.engineOf(tenant) }) },
];

/** The processes that a server hosts, under their names. */
export const openHosts = (deps: HostDeps): Readonly<Record<string, HostedProcess>> =>
  Object.fromEntries(hosts.map(({ process, host }) => [process.name, { ...host(deps), process }]));
