import { playerNames } from '../../projections/player-names.js';
import type { DiscloseDeps } from '../../src/features/souls/disclose.js';
import { compareOrders } from '../../src/kernel/read-models/row-order.js';
import { rowsOf } from '../projections/fold.js';
import type { MemoryEventStore } from './memory/event-store.js';

/** The read model of the players whom bodies named, over everything in a store; `isBehind` if it has not seen all of it. */
export const withPlayerNames = (events: MemoryEventStore, isBehind = false): DiscloseDeps => ({
  events,
  readModels: {
    reachedPosition: async () => !isBehind,
    list: async (_, { partition, tags, beyond, limit }) => {
      const rows = [...rowsOf(playerNames, await events.readAll(0, 4_096))].map(([key, row]) => ({
        ...{ key, row, ...playerNames.indexOf(row) },
      }));
      const due = rows
        .filter((row) => row.partition === partition && tags?.includes(row.tag) === true)
        .filter(({ order }) => beyond === undefined || compareOrders(order, beyond) > 0)
        .sort((one, other) => compareOrders(one.order, other.order));
      return { rows: due.slice(0, limit), more: due.length > limit };
    },
  },
});
