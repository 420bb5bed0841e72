import { decoderOf } from '../../../kernel/base/decoder.js';
import type { JsonObject } from '../../../kernel/base/json.js';

/** Whose key signed a soul: this server's, one that it is told to trust, or any other. */
export type SoulSigner = 'ours' | 'known' | 'unknown';

type OfImport = { readonly importId: string };

/** The events of the imports of one soul by one tenant, by what an archive calls it. Shapes are storage: never changed, only upcast (docs/adr/0004). */
export type ImportEvent =
  | {
      type: 'SoulImportRequested';
      data: OfImport & { readonly txId: string; readonly deadlineAt: string };
    }
  /** A client brought the document; it is valid, and kept in the archive under its digest. It comes in as `npcId`. */
  | {
      type: 'SoulReceived';
      data: OfImport & {
        readonly soulId: string;
        readonly digest: string;
        readonly root: string;
        readonly kid: string;
        readonly signer: SoulSigner;
        readonly npcId: string;
        readonly copy: boolean;
        readonly memories: number;
        readonly bytes: number;
      };
    }
  /** The mind is here; `revision` is that of its `SoulArrived`. */
  | { type: 'SoulImported'; data: OfImport & { readonly npcId: string; readonly revision: number } }
  | {
      type: 'SoulImportFailed';
      data: OfImport & { readonly code: string; readonly reason: string; readonly details?: JsonObject };
    }
  | { type: 'SoulImportExpired'; data: OfImport };

/** The events of imports. */
export const importEvents = decoderOf<ImportEvent>({
  SoulImportRequested: [],
  SoulReceived: [],
  SoulImported: [],
  SoulImportFailed: [],
  SoulImportExpired: [],
});
