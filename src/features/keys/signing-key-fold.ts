import { signingKeyEvents } from './domain/signing-events.js';
import { evolveSigningKeys, noSigningKeys, type SigningKeyState } from './domain/signing-key-state.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** How the stream of this server's signing keys is folded. */
export const signingKeyFold: Fold<SigningKeyState> = {
  initial: noSigningKeys,
  evolve: (state, event) => evolveSigningKeys(state, signingKeyEvents.decode(event), event.meta.at),
  versionOf: signingKeyEvents.versionOf,
};
