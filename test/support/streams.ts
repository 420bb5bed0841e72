import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import type { Fold } from '../../src/kernel/streams/fold.js';
import type { CommandContext } from '../../src/kernel/base/command-context.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';

/** A stream for the suites that append to streams; its state is the list of its notes. */
export const STREAM = npcStream('studio', 'one');

export const texts: Fold<readonly string[]> = {
  initial: [],
  evolve: (state, { data }) => [...state, data['text'] as string],
  versionOf: () => 1,
};

/** How streams are folded if no test reads their state. */
export const noState: Fold<null> = { initial: null, evolve: () => null, versionOf: () => 1 };

export const note = (text: string): EventDraft => ({ type: 'Noted', data: { text } });

/** The context of a test's command with this id. */
export const onBehalf = (commandId: string): CommandContext => ({
  tenant: 'studio',
  actor: 'key',
  commandId,
  correlationId: commandId,
  causationId: null,
});

/** A store with some of its methods replaced; the others are those of `store`. */
export const storeWith = (store: EventStore, replaced: Partial<EventStore>): EventStore => ({
  append: (stream, expected, events) => store.append(stream, expected, events),
  read: (stream, range) => store.read(stream, range),
  readAll: (after, limit) => store.readAll(after, limit),
  lastPosition: () => store.lastPosition(),
  subscribe: (options) => store.subscribe(options),
  openProcesses: () => store.openProcesses(),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  ...replaced,
});

/** A store whose appends wait until each is released (true) or fails as on a full disk (false). */
export const heldStore = (store: EventStore) => {
  const held: ((through: boolean) => void)[] = [];
  return {
    store: storeWith(store, {
      append: async (stream, expected, events) => {
        const through = await new Promise<boolean>((resolve) => held.push(resolve));
        if (!through) throw new Error('the disk is full');
        return store.append(stream, expected, events);
      },
    }),
    /** Answers the oldest waiting append. */
    release: (through = true): void => held.shift()?.(through),
  };
};

/** Everything recorded in a stream. */
export const eventsOf = async (store: EventStore, stream = STREAM): Promise<readonly RecordedEvent[]> =>
  (await store.read(stream, { direction: 'forwards', limit: 4_096 })).events;

export const textsOf = async (store: EventStore): Promise<readonly unknown[]> =>
  (await eventsOf(store)).map(({ data }) => data['text']);
