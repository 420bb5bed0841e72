import { LRUCache } from 'lru-cache';

import { besidesVerdict } from '../../../workflows/turn/turn-events.js';
import type { Action } from '../rules/domain/bridge/action.js';
import {
  afterRemoteStep,
  beginRemotePlay,
  isRemotePlayed,
  type RemotePlay,
  type RemoteStep,
} from './domain/remote-play.js';
import type { GhostStepEvent, PlayedTurn } from './domain/events.js';
import { readTold } from './domain/told-world.js';
import type { Level } from '../levels/domain/level.js';
import { npcEvents } from '../npcs/domain/events.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { ghostMindStream } from '../../kernel/base/stream-names.js';
import { weightOf } from '../../kernel/base/weight.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import {
  type PlayDeps,
  type PlayedSession,
  sessionContext,
  sessionKey,
  settingFor,
  stepsStreamOf,
} from './play-slice.js';
import { compact } from './session-turn.js';
import { decidedIn, GHOST, type Setting } from './session.js';
import { CHECKPOINT_STEPS, recordStep, stepsSinceCheckpoint } from './steps-log.js';

/**
 * How many sessions with remote bodies a process caches between their steps, and how much memory they may take, in bytes as counted by `weightOf`.
 */
const KEPT_PLAYS = 1_000;
const KEPT_BYTES = 32 * 1024 * 1024;

/** The state of a session; `looked`: the last revision of its mind's stream that was searched for an ended turn. */
type CachedPlay = { readonly play: RemotePlay; readonly looked: number };
/** The states of the sessions with remote bodies in this process; missing ones are read from their streams. */
export type PlayCache = LRUCache<string, CachedPlay>;
export const createPlayCache = (): PlayCache =>
  new LRUCache({ max: KEPT_PLAYS, maxSize: KEPT_BYTES, sizeCalculation: (kept) => weightOf(kept) });

export type RemoteStepDeps = Pick<PlayDeps, 'events' | 'writers' | 'levels'> & { readonly plays: PlayCache };

/** `over`: no step follows. */
export type CaughtUp = { readonly setting: Setting; readonly play: RemotePlay; readonly over: boolean };

/** A session with a remote body, folded from its recorded steps. Propagates errors from the event store. */
const loadPlay = async (events: Pick<EventStore, 'read'>, stream: string, level: Level): Promise<RemotePlay> => {
  let play = beginRemotePlay(level);
  for await (const { remote, checkpoint } of stepsSinceCheckpoint(events, stream)) {
    if (checkpoint !== undefined) play = checkpoint as unknown as RemotePlay;
    else if (remote !== undefined) play = afterRemoteStep(level, play, remote);
  }
  return play;
};

/** The limit of the events of one turn in its step, in bytes of JSON: a checkpoint may be in the same event. */
const TURN_BYTES = 400_000;

/** A verdict in the stream of a mind, by its turn and its revision. */
type EndedBy = { readonly turnId: string; readonly revision: number };

/** The first verdict in a mind's stream after a revision; `looked` is the last revision that was read. Propagates errors from the event store. */
const nextVerdict = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  after: number,
): Promise<{ readonly verdict: EndedBy | null; readonly looked: number }> => {
  let looked = after;
  for await (const page of pagesOf(events, mind, { direction: 'forwards', from: after + 1 })) {
    for (const recorded of page.events) {
      const event = npcEvents.decode(recorded);
      looked = recorded.revision;
      if (event.type === 'VerdictReached' || event.type === 'VerdictRefused')
        return { verdict: { turnId: event.data.turnId, revision: looked }, looked };
    }
  }
  return { verdict: null, looked };
};

/** The events of an ended turn, from its opening to the end of the append with its verdict. Propagates errors from the event store. */
const eventsOfTurn = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  { turnId, revision }: EndedBy,
): Promise<readonly RecordedEvent[]> => {
  const own: RecordedEvent[] = [];
  // A turn's id contains a revision of its stream before its first event.
  const from = parseProcessId(turnId)?.revision ?? 0;
  for await (const page of pagesOf(events, mind, { direction: 'forwards', from })) {
    for (const event of page.events) {
      if (event.revision > revision && !besidesVerdict.has(event.type)) return own;
      if (event.data['turnId'] === turnId) own.push(event);
    }
  }
  return own;
};

const withoutInstruction = (recorded: RecordedEvent): PlayedTurn['events'][number] => ({
  ...compact(recorded),
  version: recorded.meta.schemaVersion,
});

/** The part of a turn that its step contains: if it does not fit, only the turn's id. */
const shortened = (own: readonly RecordedEvent[]): PlayedTurn['events'] => {
  let left = TURN_BYTES;
  return own.map((recorded) => {
    const whole = withoutInstruction(recorded);
    const bytes = jsonBytes(whole);
    if (bytes > left) return { ...whole, data: { turnId: recorded.data['turnId'] ?? null } };
    left -= bytes;
    return whole;
  });
};

type EndedTurn = { readonly turn: PlayedTurn; readonly action: Action | null; readonly remote: RemoteStep };

/** A turn of a session's mind as a step of the session. Propagates errors from the event store. */
const endedTurn = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  level: Level,
  ended: EndedBy,
): Promise<EndedTurn> => {
  const own = await eventsOfTurn(events, mind, ended);
  const { verdict, grounds } = decidedIn({ npcId: GHOST, events: own.map(withoutInstruction) });
  const context = own.find(({ type }) => type === 'TurnOpened')?.data['context'] ?? {};
  return {
    turn: { npcId: GHOST, events: shortened(own) },
    action: verdict.valid ? verdict.action : null,
    remote: {
      told: readTold(level, context),
      decided: {
        valid: verdict.valid,
        code: verdict.code ?? null,
        action: (verdict.valid ? verdict.action : verdict.refusedAction)?.type ?? null,
        matched: grounds.rules.flatMap(({ drRuleId, matched }) => (matched ? [drRuleId] : [])),
      },
      through: own.at(-1)?.revision ?? ended.revision,
    },
  };
};

/**
 * Records each turn that has ended, in the order of the verdicts, as a step of the session: the n-th to end is step n, whichever process records it
 * and however often. Propagates errors from the levels and the event store.
 */
export const recordEndedTurns = (deps: RemoteStepDeps, session: PlayedSession): Promise<CaughtUp> =>
  deps.writers.runExclusive(`steps ${stepsStreamOf(session)}`, async () => {
    const { events, writers, plays } = deps;
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
      const outcome = await recordStep(writers, stream, by, play.step, stepOf(after, ended));
      closed = outcome === 'closed';
      // Another process was faster: it recorded the same steps, including those before it closed them.
      ({ play, looked } = begun(outcome === 'recorded' ? after : await loadPlay(events, stream, level)));
    }
    plays.set(key, { play, looked });
    return { setting, play, over: closed || isRemotePlayed(setting, play) };
  });

const begun = (play: RemotePlay): CachedPlay => ({ play, looked: play.through });

const stepOf = (play: RemotePlay, { turn, action, remote }: Awaited<ReturnType<typeof endedTurn>>): GhostStepEvent => ({
  type: 'GhostStepped',
  data: {
    ...{ step: play.step, turns: [turn], action, outcome: null, remote },
    ...(play.step % CHECKPOINT_STEPS === 0 ? { checkpoint: play } : {}),
  },
});
