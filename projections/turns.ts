import { npcEvents, type TurnKind } from '../src/features/npcs/domain/events.js';
import type { RulesetRef } from '../src/features/rules/domain/ruleset.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';
import { defined } from '../src/kernel/base/defined.js';

/** A turn in the turn list, without its rounds. */
export type TurnRow = {
  readonly turnId: string;
  readonly npcId: string;
  readonly kind: TurnKind;
  readonly state: 'awaitingActor' | 'awaitingMemories' | 'awaitingInference' | 'ended' | 'failed' | 'expired';
  readonly openedAt: string;
  /** For a turn that is one request: when it was answered. */
  readonly deadlineAt: string;
  readonly endedAt?: string;
  readonly resumedFrom?: string;
  readonly ruleset: RulesetRef | null;
  /** For turns with a verdict: whether it was valid. */
  readonly valid?: boolean;
  readonly stream: string;
  /** The revision of the event that opened it: its position in the list. */
  readonly revision: number;
};

const waitingFor = {
  IdentifyActor: 'awaitingActor',
  QueryVector: 'awaitingMemories',
  ExecuteInference: 'awaitingInference',
} as const;

type NewTurnRow = Pick<TurnRow, 'kind' | 'state' | 'deadlineAt' | 'ruleset'> & Partial<TurnRow>;

const begun = ({ stream, revision, meta }: RecordedEvent, turnId: string, opened: NewTurnRow): TurnRow | null => {
  const named = parseNpcStream(stream);
  return named === null ? null : { turnId, npcId: named.npcId, openedAt: meta.at, ...opened, stream, revision };
};

/** A turn after an event. */
export const evolveTurnRow = (row: TurnRow | null, recorded: RecordedEvent): TurnRow | null => {
  const event = npcEvents.decode(recorded);
  const { at } = recorded.meta;
  /** A turn that is one request. */
  const ended = { state: 'ended', deadlineAt: at, endedAt: at } as const;
  switch (event.type) {
    case 'TurnOpened': {
      const { turnId, deadlineAt, ruleset, resumedFrom, instruction } = event.data;
      return begun(recorded, turnId, {
        kind: 'process',
        state: waitingFor[instruction.type],
        deadlineAt,
        ...defined({ resumedFrom }),
        ruleset,
      });
    }
    case 'ActorIdentified':
    case 'MemoriesRecalled':
      return row && { ...row, state: waitingFor[event.data.instruction.type] };
    case 'VerdictReached':
    case 'VerdictRefused': {
      const { turnId, asked, verdict } = event.data;
      const { valid } = verdict;
      if (asked !== undefined)
        return begun(recorded, turnId, { kind: 'verdict', ...ended, ruleset: asked.ruleset, valid });
      return row && { ...row, state: 'ended', endedAt: at, valid };
    }
    case 'TurnFailed':
      return row && { ...row, state: 'failed', endedAt: at };
    case 'TurnExpired':
      return row && { ...row, state: 'expired', endedAt: at };
    case 'DirectiveGiven':
      return begun(recorded, event.data.turnId, { kind: 'directive', ...ended, ruleset: event.data.ruleset });
    case 'ContextBuilt':
      return begun(recorded, event.data.turnId, { kind: 'context', ...ended, ruleset: event.data.ruleset });
    default:
      return row;
  }
};

const none: readonly string[] = [];

/** The turns of each mind by id, in the order in which they were opened, tagged with their state. */
export const turns: Projection<TurnRow> = {
  name: 'turns',
  version: 2,
  handles: [
    'TurnOpened',
    'ActorIdentified',
    'MemoriesRecalled',
    'VerdictReached',
    'VerdictRefused',
    'TurnFailed',
    'TurnExpired',
    'DirectiveGiven',
    'ContextBuilt',
  ],
  idsOf: ({ stream, data }) => {
    const turnId = data['turnId'];
    return typeof turnId === 'string' && isNpcStream(stream) ? [turnId] : none;
  },
  evolve: evolveTurnRow,
  indexOf: ({ stream, revision, state }) => ({
    partition: stream,
    order: revisionOrder(revision),
    tag: state,
  }),
};
