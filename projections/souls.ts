import { npcEvents } from '../src/features/npcs/domain/events.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';

/**
 * A soul that a mind of this server has sealed, by its root and the key that signed it; `place` once an archive has it. One that did not reach an
 * archive stays too: its client has it all the same, and a later soul may name it (chain-links.ts).
 */
export type SoulRow = {
  readonly soulId: string;
  readonly tenant: string;
  readonly npcId: string;
  readonly name: string;
  readonly root: string;
  readonly kid: string;
  readonly place: { readonly txId: string; readonly url: string; readonly at: string } | null;
  /** When it was last withdrawn from this server's archive; absent if it never was, or was exported after that. */
  readonly withdrawnAt?: string;
};

/** The partition in which a tenant's archived souls are listed. */
export const soulsListed = (tenant: string): string => tenant;
/** The partition of the others. No tenant's id has a space. */
const sealedOf = (tenant: string): string => `${tenant} sealed`;

const sealed = (
  recorded: RecordedEvent,
  { soulId, name, root, kid }: Omit<SoulRow, 'tenant' | 'npcId' | 'place' | 'withdrawnAt'>,
) => {
  const { tenant = '', npcId = '' } = parseNpcStream(recorded.stream) ?? {};
  return { soulId, tenant, npcId, name, root, kid, place: null };
};

const none: readonly string[] = [];

/** Each tenant's souls by id, in the order in which they were exported. */
export const souls: Projection<SoulRow> = {
  name: 'souls',
  version: 4,
  handles: ['SoulSealed', 'SoulExported', 'SoulWithdrawn'],
  idsOf: ({ stream, data }) => {
    const { soulId } = data;
    return typeof soulId === 'string' && isNpcStream(stream) ? [soulId] : none;
  },
  evolve: (row, recorded) => {
    const event = npcEvents.decode(recorded);
    switch (event.type) {
      case 'SoulSealed':
        return sealed(recorded, event.data);
      case 'SoulExported': {
        const { txId, url } = event.data;
        if (row === null) return null;
        const { withdrawnAt: _, ...before } = row;
        return { ...before, place: { txId, url, at: recorded.meta.at } };
      }
      case 'SoulWithdrawn':
        return row && { ...row, withdrawnAt: recorded.meta.at };
      default:
        return row;
    }
  },
  indexOf: ({ tenant, soulId, place }) =>
    place === null
      ? { partition: sealedOf(tenant), order: soulId, tag: '' }
      : { partition: soulsListed(tenant), order: `${place.at} ${soulId}`, tag: '' },
};
