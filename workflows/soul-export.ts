import type { EventDraft } from '../src/kernel/base/event-draft.js';
import { npcEvents, type NpcEvent } from '../src/features/npcs/domain/events.js';
import { defined } from '../src/kernel/base/defined.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import { draft } from '../src/features/npcs/domain/draft.js';
import type { Transition, Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type DataOfEvent<Type extends NpcEvent['type']> = Extract<NpcEvent, { type: Type }>['data'];
type Request = DataOfEvent<'SoulExportRequested'>;
type Seal = Omit<DataOfEvent<'SoulSealed'>, 'soulId'>;
type Kept = Omit<DataOfEvent<'SoulExported'>, 'soulId'>;
type Failure = Omit<DataOfEvent<'SoulExportFailed'>, 'soulId'>;

type SoulExportName = 'new' | 'requested' | 'sealed' | 'exported' | 'failed' | 'expired';
/** An export as its events leave it; plain JSON. `revision` is the revision of its request: the soul covers the events up to there. */
export type SoulExportState =
  | { readonly name: 'new' }
  | (Request & {
      readonly name: Exclude<SoulExportName, 'new'>;
      readonly revision: number;
      readonly requestedAt: string;
      readonly seal?: Seal;
      readonly place?: Kept;
      readonly failure?: Failure;
      readonly endedAt?: string;
    });
type Begun = Exclude<SoulExportState, { name: 'new' }>;

export type SoulExportInput =
  | ({ readonly type: 'request' } & Request)
  | ({ readonly type: 'sealed' } & Seal)
  /** The soul with this digest is in an archive. */
  | ({ readonly type: 'uploaded'; readonly digest: string } & Kept)
  | ({ readonly type: 'failed' } & Failure)
  | { readonly type: 'deadline' };

/** The complete state of an export, once it has begun. */
export type SoulExportAnswer = Begun;

const seal = ({ soulId }: Begun, { type: _, ...data }: Extract<SoulExportInput, { type: 'sealed' }>) => [
  draft({ type: 'SoulSealed', data: { soulId, ...data } }),
];
const fail = ({ soulId }: Begun, { type: _, ...data }: Extract<SoulExportInput, { type: 'failed' }>) => [
  draft({ type: 'SoulExportFailed', data: { soulId, ...data } }),
];
const expire = ({ soulId }: Begun) => [draft({ type: 'SoulExportExpired', data: { soulId } })];

/** @throws Rejection SOUL_PAYLOAD_MISMATCH if the uploaded payload is not the sealed one */
const requireSame = ({ seal: sealed }: Begun, digest: string): void => {
  if (sealed?.digest !== digest) throw new Rejection('SOUL_PAYLOAD_MISMATCH');
};

const keep = (
  state: Begun,
  { type: _, digest, ...place }: Extract<SoulExportInput, { type: 'uploaded' }>,
): readonly EventDraft[] => {
  requireSame(state, digest);
  return [draft({ type: 'SoulExported', data: { soulId: state.soulId, ...place } })];
};

/** Confirming twice gives the first answer, if the payload is the same. */
const sameAgain: Transition<Begun, Extract<SoulExportInput, { type: 'uploaded' }>, unknown, SoulExportName> = {
  to: ['exported'],
  emit: (state, { digest }) => {
    requireSame(state, digest);
    return [];
  },
};

const failing = { to: ['failed'], emit: fail } as const;
const expiring = { to: ['expired'], emit: expire } as const;

const transitions: StateMachine<SoulExportState, SoulExportInput, unknown, SoulExportAnswer>['transitions'] = {
  new: {
    request: {
      to: ['requested'],
      emit: (_, { type: _type, ...data }) => [draft({ type: 'SoulExportRequested', data })],
    },
    sealed: 'ignore',
    uploaded: { reject: 'SOUL_EXPORT_NOT_FOUND' },
    failed: { reject: 'SOUL_EXPORT_NOT_FOUND' },
    deadline: 'ignore',
  },
  requested: {
    request: 'ignore',
    sealed: { to: ['sealed'], emit: seal },
    // No client has the document yet, so none can have uploaded it.
    uploaded: { reject: 'SOUL_PAYLOAD_MISMATCH' },
    failed: failing,
    deadline: expiring,
  },
  sealed: {
    request: 'ignore',
    sealed: 'ignore',
    uploaded: { to: ['exported'], emit: keep },
    failed: failing,
    deadline: expiring,
  },
  exported: { request: 'ignore', sealed: 'ignore', uploaded: sameAgain, failed: 'ignore', deadline: 'ignore' },
  failed: {
    request: 'ignore',
    sealed: 'ignore',
    uploaded: { reject: 'SOUL_UPLOAD_FAILED' },
    failed: 'ignore',
    deadline: 'ignore',
  },
  expired: {
    request: 'ignore',
    sealed: 'ignore',
    uploaded: { reject: 'SOUL_EXCHANGE_EXPIRED' },
    failed: { reject: 'SOUL_EXCHANGE_EXPIRED' },
    deadline: 'ignore',
  },
};

const evolve = (state: SoulExportState, recorded: ProcessEvent): SoulExportState => {
  const event = npcEvents.decode(recorded);
  const { revision, meta } = recorded;
  if (state.name === 'new') {
    return event.type === 'SoulExportRequested'
      ? { ...event.data, name: 'requested', revision, requestedAt: meta.at }
      : state;
  }
  switch (event.type) {
    case 'SoulSealed': {
      const { soulId: _, ...sealed } = event.data;
      return { ...state, name: 'sealed', seal: sealed };
    }
    case 'SoulExported': {
      const { soulId: _, ...place } = event.data;
      return { ...state, name: 'exported', place, endedAt: meta.at };
    }
    case 'SoulExportFailed': {
      const { soulId: _, ...failure } = event.data;
      return { ...state, name: 'failed', failure, endedAt: meta.at };
    }
    case 'SoulExportExpired':
      return { ...state, name: 'expired', endedAt: meta.at };
    default:
      return state;
  }
};

const over = ({ name }: SoulExportState): boolean => name === 'exported' || name === 'failed' || name === 'expired';

const pending = (state: SoulExportState): Effect | null => {
  if (state.name === 'requested') {
    const { soulId, npcState, persona, includeMemories, without, deadlineAt, revision, requestedAt } = state;
    const asked = { soulId, npcState, ...defined({ persona, without }), includeMemories, deadlineAt };
    return { id: 'seal', name: 'seal', args: { ...asked, revision, requestedAt } };
  }
  if (state.name === 'sealed' && state.uploadedBy === 'server') {
    const { storage, format } = state;
    const args = { digest: state.seal?.digest ?? '', ...defined({ storage, format }) };
    return { id: 'keep', name: 'keep', args };
  }
  return null;
};

/**
 * Exports a mind as a soul: its document is made and signed, then uploaded to an archive, either by a client, which confirms it in a second phase, or
 * by this server. Nothing is handed out before the mind's own stream records that the soul was sealed.
 */
export const soulExport: StateMachine<SoulExportState, SoulExportInput, unknown, SoulExportAnswer> = {
  name: 'soulExport',
  initial: { name: 'new' },
  transitions,
  owns: (id, event) => event.data['soulId'] === id,
  evolve,
  pending,
  deadline: (state) =>
    state.name === 'new' || over(state) ? null : { at: state.deadlineAt, input: { type: 'deadline' } },
  answer: (state) => (state.name === 'new' ? undefined : state),
  over,
};
