import { LRUCache } from 'lru-cache';

import { afterRemoteStep, beginRemotePlay, isRemotePlayed, type RemotePlay } from '../../domain/ghost/remote-play.js';
import type { GhostStepEvent } from '../../domain/ghost/session-events.js';
import type { Level } from '../../domain/level/level.js';
import { ghostMindStream } from '../../domain/shared/stream-names.js';
import { weightOf } from '../../domain/shared/weight.js';
import type { EventStore } from '../../ports/event-store.js';
import { endedTurn, nextVerdict } from './ended-turn.js';
import {
  type PlayDeps,
  type PlayedSession,
  sessionContext,
  sessionKey,
  settingFor,
  stepsStreamOf,
} from './play-slice.js';
import type { Setting } from './session.js';
import { CHECKPOINT_STEPS, recordStep, stepsSinceCheckpoint } from './steps-log.js';

/** How many sessions of bodies a process keeps in memory between their steps, and how much memory they may take, in bytes as `weightOf` counts. */
const KEPT_PLAYS = 1_000;
const KEPT_BYTES = 32 * 1024 * 1024;

/** Where a session stands; `looked`: the last revision of its mind's stream in which an ended turn was looked for. */
type KeptPlay = { readonly play: RemotePlay; readonly looked: number };
/** Where the sessions with bodies stand that this process has to do with; what is not here is read from their streams. */
export type KeptPlays = LRUCache<string, KeptPlay>;
export const createKeptPlays = (): KeptPlays =>
  new LRUCache({ max: KEPT_PLAYS, maxSize: KEPT_BYTES, sizeCalculation: (kept) => weightOf(kept) });

export type RemoteStepDeps = Pick<PlayDeps, 'events' | 'lanes' | 'levels'> & { readonly plays: KeptPlays };

/** `over`: no step follows. */
export type CaughtUp = { readonly setting: Setting; readonly play: RemotePlay; readonly over: boolean };

/** A session with a body elsewhere as its recorded steps leave it. Raises what the event store raises. */
const loadPlay = async (events: Pick<EventStore, 'read'>, stream: string, level: Level): Promise<RemotePlay> => {
  let play = beginRemotePlay(level);
  for await (const { remote, checkpoint } of stepsSinceCheckpoint(events, stream)) {
    if (checkpoint !== undefined) play = checkpoint as unknown as RemotePlay;
    else if (remote !== undefined) play = afterRemoteStep(level, play, remote);
  }
  return play;
};

/**
 * Records each turn that has ended, in the order of the verdicts, as a step of the session (contract 9.6): the n-th that ends is step n, whoever
 * records it and however often. Raises what the levels and the event store raise.
 */
export const recordEndedTurns = (deps: RemoteStepDeps, session: PlayedSession): Promise<CaughtUp> =>
  deps.lanes.runExclusive(`steps ${stepsStreamOf(session)}`, async () => {
    const { events, lanes, plays } = deps;
    const setting = await settingFor(deps, session);
    const { level } = setting;
    const [key, stream, by] = [sessionKey(session), stepsStreamOf(session), sessionContext(session)];
    const mind = ghostMindStream(session.tenant, session.sessionId);
    let { play, looked } = plays.get(key) ?? begun(await loadPlay(events, stream, level));
    let closed = false;
    while (!closed && !isRemotePlayed(setting, play)) {
      const found = await nextVerdict(events, mind, looked);
      if (found.verdict === null) {
        looked = found.looked;
        break;
      }
      const ended = await endedTurn(events, mind, level, found.verdict);
      const after = afterRemoteStep(level, play, ended.remote);
      const outcome = await recordStep(lanes, stream, by, play.step, stepOf(after, ended));
      closed = outcome === 'closed';
      // Another process was faster: what it recorded is what this one would have, also before it closed them.
      ({ play, looked } = begun(outcome === 'recorded' ? after : await loadPlay(events, stream, level)));
    }
    plays.set(key, { play, looked });
    return { setting, play, over: closed || isRemotePlayed(setting, play) };
  });

const begun = (play: RemotePlay): KeptPlay => ({ play, looked: play.through });

const stepOf = (play: RemotePlay, { turn, action, remote }: Awaited<ReturnType<typeof endedTurn>>): GhostStepEvent => ({
  type: 'GhostStepped',
  data: {
    ...{ step: play.step, turns: [turn], action, outcome: null, remote },
    ...(play.step % CHECKPOINT_STEPS === 0 ? { checkpoint: play } : {}),
  },
});
