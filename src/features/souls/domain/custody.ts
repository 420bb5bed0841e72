import { decoderOf } from '../../../kernel/base/decoder.js';
import type { JsonObject } from '../../../kernel/base/json.js';

/** A mind of this server that a soul lives in. */
export type SoulOwner = { readonly tenant: string; readonly npcId: string; readonly importId: string };

/** The events of one soul on this server, identified by its root. Shapes are storage: never changed, only upcast (docs/adr/0004). */
export type CustodyEvent =
  /** From now on the soul lives in this mind, and in no other. */
  | { type: 'SoulTaken'; data: SoulOwner }
  /** It did not get there after all: the npcId was taken by another mind. */
  | { type: 'SoulLetGo'; data: SoulOwner };

/** The events of a soul's custody. */
export const custodyEvents = decoderOf<CustodyEvent>({ SoulTaken: [], SoulLetGo: [] });

/** Who has a soul; null when nobody has. */
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
