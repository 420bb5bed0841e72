import { decoderOf } from '../../../kernel/base/decoder.js';
import type { JsonObject } from '../../../kernel/base/json.js';

/**
 * A mind of this server in which a soul lives. `revivedAfter`: the revision of the archived mind that takes its soul again because it is about to be
 * revived; absent for an import.
 */
export type SoulOwner = {
  readonly tenant: string;
  readonly npcId: string;
  readonly importId: string;
  readonly revivedAfter?: number;
};

/** The events of one soul on this server, identified by its root. The shapes are storage: they never change and are only upcast (docs/adr/0004). */
export type CustodyEvent =
  /** From now on the soul lives in this mind only. */
  | { type: 'SoulTaken'; data: SoulOwner }
  /** It did not get there after all: another mind had taken the npcId. */
  | { type: 'SoulLetGo'; data: SoulOwner };

/** The decoder of a soul's custody. */
export const custodyEvents = decoderOf<CustodyEvent>({ SoulTaken: [], SoulLetGo: [] });

/** The owner of a soul; null if there is none. */
export type Custody = { readonly owner: SoulOwner | null };

/** Folds one event into a soul's custody; total. */
export const evolveCustody = (
  custody: Custody,
  recorded: { readonly type: string; readonly data: JsonObject; readonly meta: { readonly schemaVersion: number } },
): Custody => {
  const event = custodyEvents.decode(recorded);
  switch (event.type) {
    case 'SoulTaken':
      return { owner: event.data };
    case 'SoulLetGo':
      return { owner: null };
    default:
      return custody;
  }
};
