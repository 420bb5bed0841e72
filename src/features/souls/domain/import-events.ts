import { decoderOf } from '../../../kernel/base/decoder.js';
import type { JsonObject } from '../../../kernel/base/json.js';

/** Whose key signed a soul: this server's, a trusted one, or any other. */
export type SoulSigner = 'ours' | 'known' | 'unknown';

type OfImport = { readonly importId: string };

/**
 * The events of one tenant's imports of one soul, identified by its id in an archive. The shapes are storage: they never change and are only upcast
 * (docs/adr/0004).
 */
export type ImportEvent =
  | {
      type: 'SoulImportRequested';
      data: OfImport & { readonly txId: string; readonly deadlineAt: string };
    }
  /** A client sent the document; it is valid, and stored in the archive under its digest. It becomes the mind `npcId`. */
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
  /** The mind exists; `revision` is that of its `SoulArrived`. */
  | { type: 'SoulImported'; data: OfImport & { readonly npcId: string; readonly revision: number } }
  | {
      type: 'SoulImportFailed';
      data: OfImport & { readonly code: string; readonly reason: string; readonly details?: JsonObject };
    }
  | { type: 'SoulImportExpired'; data: OfImport };

/** The decoder of imports. */
export const importEvents = decoderOf<ImportEvent>({
  SoulImportRequested: [],
  SoulReceived: [],
  SoulImported: [],
  SoulImportFailed: [],
  SoulImportExpired: [],
});
