import { importEvents } from './domain/import-events.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** The newest of all imports of one txId by one tenant. `open`: it has not ended. */
export type Imports = { readonly newest: { readonly importId: string; readonly open: boolean } | null };

/** How the imports of one txId by one tenant are folded. */
export const importFold: Fold<Imports> = {
  initial: { newest: null },
  evolve: (imports, recorded) => {
    const event = importEvents.decode(recorded);
    if (event.type === 'Unknown') return imports;
    const { importId } = event.data;
    if (event.type === 'SoulImportRequested') return { newest: { importId, open: true } };
    if (event.type === 'SoulReceived' || imports.newest?.importId !== importId) return imports;
    return { newest: { importId, open: false } };
  },
  versionOf: importEvents.versionOf,
};
