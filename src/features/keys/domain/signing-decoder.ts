import { decoderOf } from '../../../kernel/base/decoder.js';
import type { SigningKeyEvent } from './signing-events.js';

/** The events of the stream of signing keys. */
export const signingKeyEvents = decoderOf<SigningKeyEvent>({ SigningKeyMade: [] });
