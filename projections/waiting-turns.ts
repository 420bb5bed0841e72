import { parseNpcStream } from '../src/kernel/base/stream-names.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import type { Projection } from '../src/ports/read-models.js';
import { evolveTurnRow, type TurnRow, turns } from './turns.js';

/** An open turn among those of all minds. */
type WaitingTurnRow = TurnRow & { readonly position: number };

/** The open turns of all minds of a tenant, in the order in which they were opened. A turn that ends leaves the list. */
export const waitingTurns: Projection<WaitingTurnRow> = {
  name: 'waiting-turns',
  version: 1,
  handles: turns.handles,
  idsOf: (event) => turns.idsOf(event),
  evolve: (row, event) => {
    const turn = evolveTurnRow(row, event);
    if (turn === null || turn.endedAt !== undefined) return null;
    return { ...turn, position: row?.position ?? event.position };
  },
  indexOf: ({ stream, position }) => ({
    partition: parseNpcStream(stream)?.tenant ?? '',
    order: revisionOrder(position),
    tag: '',
  }),
};
