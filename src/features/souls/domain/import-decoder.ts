import { decoderOf } from '../../../kernel/base/decoder.js';
import type { ImportEvent } from './import-events.js';

/** The events of imports. */
export const importEvents = decoderOf<ImportEvent>({
  SoulImportRequested: [],
  SoulReceived: [],
  SoulImported: [],
  SoulImportFailed: [],
  SoulImportExpired: [],
});
