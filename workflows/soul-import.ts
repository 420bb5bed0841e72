import type { EventDraft } from '../src/kernel/base/event-draft.js';
import { type ImportEvent, importEvents } from '../src/features/souls/domain/import-events.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import type { Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type DataOfImport<Type extends ImportEvent['type']> = Omit<Extract<ImportEvent, { type: Type }>['data'], 'importId'>;
type Asked = DataOfImport<'SoulImportRequested'>;
type Received = DataOfImport<'SoulReceived'>;
type Arrived = DataOfImport<'SoulImported'>;
type ImportFailure = DataOfImport<'SoulImportFailed'>;

type BegunImport = Asked & { readonly importId: string };
/** An import as its events leave it; plain JSON. `receivedAt` is when the soul counts as imported, RFC 3339. */
export type SoulImportState =
  | { readonly name: 'new' }
  | (BegunImport & { readonly name: 'requested' | 'expired' })
  | (BegunImport & { readonly name: 'received'; readonly soul: Received; readonly receivedAt: string })
  | (BegunImport & { readonly name: 'imported'; readonly soul: Received; readonly arrived: Arrived })
  | (BegunImport & { readonly name: 'failed'; readonly failure: ImportFailure });

export type SoulImportInput =
  | ({ readonly type: 'request'; readonly importId: string } & Asked)
  /** A client uploaded a valid document, and the archive keeps it. */
  | ({ readonly type: 'received' } & Received)
  | ({ readonly type: 'arrived' } & Arrived)
  /** A client reports that it could not download the soul. */
  | ({ readonly type: 'undelivered' } & ImportFailure)
  /** The soul cannot be imported. */
  | ({ readonly type: 'refused' } & ImportFailure)
  | { readonly type: 'deadline' };

/** The complete state of an import, once it has begun. */
export type SoulImportAnswer = Exclude<SoulImportState, { name: 'new' }>;

/** An event of an import as a transition emits it: JSON by construction. */
const recorded = (event: ImportEvent): readonly EventDraft[] => [event];

const fail = ({ importId }: BegunImport, { type: _, ...failure }: ImportFailure & { readonly type: string }) =>
  recorded({ type: 'SoulImportFailed', data: { importId, ...failure } });

/** Confirming twice gives the first answer, if the document is the same. @throws Rejection SOUL_PAYLOAD_MISMATCH */
const sameAgain = {
  to: ['received', 'imported'],
  emit: ({ soul }: { readonly soul: Received }, { digest }: Received): readonly EventDraft[] => {
    if (soul.digest !== digest) throw new Rejection('SOUL_PAYLOAD_MISMATCH');
    return [];
  },
} as const;

const transitions: StateMachine<SoulImportState, SoulImportInput, unknown, SoulImportAnswer>['transitions'] = {
  new: {
    request: {
      to: ['requested'],
      emit: (_, { type: _type, ...data }) => recorded({ type: 'SoulImportRequested', data }),
    },
    received: { reject: 'SOUL_IMPORT_NOT_FOUND' },
    arrived: 'ignore',
    undelivered: { reject: 'SOUL_IMPORT_NOT_FOUND' },
    refused: 'ignore',
    deadline: 'ignore',
  },
  requested: {
    request: 'ignore',
    received: {
      to: ['received'],
      emit: ({ importId }, { type: _, ...soul }) => recorded({ type: 'SoulReceived', data: { importId, ...soul } }),
    },
    arrived: 'ignore',
    undelivered: { to: ['failed'], emit: fail },
    refused: 'ignore',
    deadline: {
      to: ['expired'],
      emit: ({ importId }) => recorded({ type: 'SoulImportExpired', data: { importId } }),
    },
  },
  // The client has done its part: from here on the import ends, however long it takes.
  received: {
    request: 'ignore',
    received: sameAgain,
    arrived: {
      to: ['imported'],
      emit: ({ importId }, { type: _, ...arrived }) =>
        recorded({ type: 'SoulImported', data: { importId, ...arrived } }),
    },
    undelivered: 'ignore',
    refused: { to: ['failed'], emit: fail },
    deadline: 'ignore',
  },
  imported: {
    request: 'ignore',
    received: sameAgain,
    arrived: 'ignore',
    undelivered: 'ignore',
    refused: 'ignore',
    deadline: 'ignore',
  },
  failed: {
    request: 'ignore',
    received: 'ignore',
    arrived: 'ignore',
    undelivered: 'ignore',
    refused: 'ignore',
    deadline: 'ignore',
  },
  expired: {
    request: 'ignore',
    received: { reject: 'SOUL_EXCHANGE_EXPIRED' },
    arrived: 'ignore',
    undelivered: { reject: 'SOUL_EXCHANGE_EXPIRED' },
    refused: 'ignore',
    deadline: 'ignore',
  },
};

const evolve = (state: SoulImportState, stored: ProcessEvent): SoulImportState => {
  const event = importEvents.decode(stored);
  if (state.name === 'new') {
    return event.type === 'SoulImportRequested' ? { ...event.data, name: 'requested' } : state;
  }
  const { importId, txId, deadlineAt } = state;
  const begun: BegunImport = { importId, txId, deadlineAt };
  switch (event.type) {
    case 'SoulReceived': {
      const { importId: _, ...soul } = event.data;
      return { ...begun, name: 'received', soul, receivedAt: stored.meta.at };
    }
    case 'SoulImported': {
      const { importId: _, ...arrived } = event.data;
      return state.name === 'received' ? { ...begun, name: 'imported', soul: state.soul, arrived } : state;
    }
    case 'SoulImportFailed': {
      const { importId: _, ...failure } = event.data;
      return { ...begun, name: 'failed', failure };
    }
    case 'SoulImportExpired':
      return { ...begun, name: 'expired' };
    default:
      return state;
  }
};

const pending = (state: SoulImportState): Effect | null => {
  if (state.name !== 'received') return null;
  const { importId, txId, soul, receivedAt } = state;
  return { id: 'arrive', name: 'arrive', args: { importId, txId, soul, receivedAt } };
};

/**
 * Imports a soul as a mind: a client receives the URL of the document, and sends the document in a second phase. The import has its own stream,
 * because only the document names the mind. An effect makes the mind, and continues where an earlier attempt stopped.
 */
export const soulImport: StateMachine<SoulImportState, SoulImportInput, unknown, SoulImportAnswer> = {
  name: 'soulImport',
  initial: { name: 'new' },
  transitions,
  owns: (id, event) => event.data['importId'] === id,
  evolve,
  pending,
  deadline: (state) => (state.name === 'requested' ? { at: state.deadlineAt, input: { type: 'deadline' } } : null),
  answer: (state) => (state.name === 'new' ? undefined : state),
  over: ({ name }) => name === 'imported' || name === 'failed' || name === 'expired',
};
