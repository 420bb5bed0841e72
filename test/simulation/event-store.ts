import type { AppendOutcome, EventStore } from '../../src/ports/event-store.js';
import { storeWith } from '../support/streams.js';
import type { Draw } from './draw.js';
import type { Link } from './network.js';

/** The probability that the adapter itself repeats an append whose first message was lost. */
const SENT_AGAIN = 0.5;

/**
 * The event store as one of many servers sees it over the network. An append without an answer may be written already, much later, or never. The
 * adapter may have sent it twice; the answer is then the second one's.
 */
export const sharedEventStore = (store: EventStore, link: Link, draw: Draw): EventStore =>
  storeWith(store, {
    append: (...append) => {
      const { machine } = link;
      const send = async (): Promise<AppendOutcome> => {
        if (!machine.outrun) return store.append(...append);
        const { lastRevision } = await store.read(append[0], { direction: 'backwards', limit: 1 });
        return { ok: false, actual: lastRevision };
      };
      const fate = link.fate();
      if (fate === 'fine' || !draw.chance(SENT_AGAIN)) return link.call(send, fate);
      link.call(send, fate).catch(() => undefined);
      return link.call(send);
    },
    ...reading(store, link),
  });

/** The event store of a server that writes alone, in its own process. It appends in order, and no append is written after the process has ended. */
export const ownEventStore = (store: EventStore, link: Link): EventStore => ({
  ...storeWith(store, {
    append: (...append) => {
      const write = () => (link.machine.dead ? new Promise<never>(() => undefined) : store.append(...append));
      // A full disk: nothing was written.
      return link.call(write, link.fate() === 'fine' ? 'fine' : 'request lost');
    },
    ...reading(store, link),
  }),
  soleWriter: true,
});

const reading = (store: EventStore, link: Link): Partial<EventStore> => ({
  read: (...range) => link.call(() => store.read(...range)),
  readAll: (...range) => link.call(() => store.readAll(...range)),
  lastPosition: () => link.call(() => store.lastPosition()),
  openProcesses: () => link.call(() => store.openProcesses()),
  async *subscribe(options) {
    for await (const batch of store.subscribe(options)) yield await link.call(() => Promise.resolve(batch));
  },
});
