import { decoderOf } from '../shared/decoder.js';
import type { SigningKeyEvent } from './events.js';

/** The events of the stream of signing keys. */
export const signingKeyEvents = decoderOf<SigningKeyEvent>({ SigningKeyMade: [] });
