import {
  npcEvents,
  type NpcEvent,
  type Speaker,
  type TurnKind,
  type Verdict,
  type VerdictGrounds,
} from '../npcs/domain/events.js';
import { TURN_ID_PREFIX } from './domain/turn-id.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { RulesetUsed } from '../rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../kernel/base/json.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { OpenedTurn, TurnName, TurnState } from '../../../workflows/turn/turn-state.js';
import { turn } from '../../../workflows/turn/turn.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { FIRST_EVENT_SEARCH } from '../../kernel/streams/first-event-search.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { Signing } from './verdict-signer.js';
import { defined } from '../../kernel/base/defined.js';

/** A turn folded from its events, before its verdict is signed for the answer. */
export type TurnView = {
  readonly turnId: string;
  readonly npcId: string;
  readonly kind: TurnKind;
  readonly state: Exclude<TurnName, 'new'>;
  readonly openedAt: string;
  readonly deadlineAt: string;
  readonly endedAt?: string;
  readonly resumedFrom?: string;
  readonly ruleset: RulesetUsed | null;
  readonly observation: string;
  readonly player?: Speaker;
  /** The context that a player sent with a token, which nothing that decided saw. */
  readonly playerContext?: JsonObject;
  readonly rounds: readonly {
    readonly round: number;
    readonly revision: number;
    readonly at: string;
    readonly result: Json;
    readonly instruction: Json;
  }[];
  readonly verdict: RestedVerdict | null;
};

/** A verdict, what it was based on, and the data for its signature if it is valid. */
export type RestedVerdict = {
  readonly generatedOutput: string;
  readonly verdict: Verdict;
  readonly grounds: VerdictGrounds;
  readonly signing?: Signing;
};

type Reached = Extract<NpcEvent, { type: 'VerdictReached' | 'VerdictRefused' }>['data'];

const rested = (
  data: Reached,
  ruleset: RulesetUsed | null,
  at: { readonly revision: number; readonly at: string },
): RestedVerdict => {
  const { kid, iss } = { kid: undefined, iss: undefined, ...data };
  return {
    generatedOutput: data.generatedOutput,
    verdict: data.verdict,
    grounds: data.grounds,
    ...(kid === undefined || iss === undefined
      ? {}
      : { signing: { revision: at.revision, at: at.at, kid, iss, ruleset } }),
  };
};

const viewProcess = (npcId: string, state: OpenedTurn): TurnView => {
  const last = state.rounds.at(-1);
  return {
    turnId: state.turnId,
    npcId,
    kind: 'process',
    state: state.name,
    openedAt: state.openedAt,
    deadlineAt: state.deadlineAt,
    ...defined({ endedAt: state.endedAt, resumedFrom: state.resumedFrom }),
    ruleset: state.ruleset,
    observation: state.observation,
    ...defined({ player: state.player, playerContext: state.playerContext }),
    rounds: state.rounds.map((round, index) => ({ round: index, ...round })),
    verdict: state.verdict === undefined || last === undefined ? null : rested(state.verdict, state.ruleset, last),
  };
};

/** An act of a compatibility route is a turn of one round, shown in the terms of the protocol. */
const viewSingle = (npcId: string, turnId: string, recorded: RecordedEvent): TurnView | null => {
  const event = npcEvents.decode(recorded);
  const at = { revision: recorded.revision, at: recorded.meta.at };
  const common = { turnId, npcId, state: 'ended', openedAt: at.at, deadlineAt: at.at, endedAt: at.at } as const;
  const round = (result: Json, instruction: Json) => [{ round: 0, ...at, result, instruction }];
  switch (event.type) {
    case 'DirectiveGiven':
      return {
        ...common,
        kind: 'directive',
        ruleset: event.data.ruleset,
        observation: event.data.observation,
        ...defined({ player: event.data.player }),
        rounds: round(null, { type: 'QueryVector', ...event.data.memoryRecall }),
        verdict: null,
      };
    case 'ContextBuilt': {
      const { prompt, constraints, memories, ruleset, observation, player } = event.data;
      return {
        ...common,
        kind: 'context',
        ruleset,
        observation,
        ...defined({ player }),
        rounds: round({ type: 'QueryVectorResult', memories }, { type: 'ExecuteInference', prompt, constraints }),
        verdict: null,
      };
    }
    case 'VerdictReached':
    case 'VerdictRefused': {
      const { generatedOutput, asked } = event.data;
      return {
        ...common,
        kind: 'verdict',
        ruleset: asked?.ruleset ?? null,
        observation: asked?.observation ?? '',
        ...defined({ player: asked?.player }),
        rounds: round({ type: 'ExecuteInferenceResult', generatedOutput }, { type: 'Finalize' }),
        verdict: rested(event.data, asked?.ruleset ?? null, at),
      };
    }
    default:
      return null;
  }
};

/**
 * Reads one turn of a mind from its stream.
 * @throws Rejection TURN_NOT_FOUND
 */
export const readTurn = async (
  deps: { readonly events: EventStore; readonly repository: ProcessRepository },
  tenant: string,
  npcId: string,
  turnId: string,
): Promise<TurnView> => {
  const stream = npcStream(tenant, npcId);
  if (turnId.startsWith(TURN_ID_PREFIX.process)) {
    const state = (await deps.repository.load(turn, { process: turn.name, id: turnId, stream })).state as TurnState;
    if (state.name !== 'new') return viewProcess(npcId, state);
    throw new Rejection('TURN_NOT_FOUND', { details: { npcId, turnId } });
  }
  const from = parseProcessId(turnId)?.revision;
  if (from !== undefined) {
    for await (const { events } of pagesOf(deps.events, stream, { direction: 'forwards', from }, FIRST_EVENT_SEARCH)) {
      for (const event of events) {
        const view = event.data['turnId'] === turnId ? viewSingle(npcId, turnId, event) : null;
        if (view !== null) return view;
      }
    }
  }
  throw new Rejection('TURN_NOT_FOUND', { details: { npcId, turnId } });
};
