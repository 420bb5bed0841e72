import { decoderOf, type UnknownEvent } from '../../../kernel/base/decoder.js';

/**
 * The events of the stream of signing keys. The shapes are storage: they never change and are only upcast (docs/adr/0004). The private half is only
 * ever stored wrapped: without the server's secret the stream signs nothing.
 */
export type SigningKeyEvent = {
  type: 'SigningKeyMade';
  data: {
    /** RFC 7638 thumbprint of the public key. */
    readonly kid: string;
    /** The algorithm's name in headers signed with this key. It is fixed with the key, so signing a verdict again gives the same bytes. */
    readonly alg: 'Ed25519' | 'EdDSA';
    /** The public key, 32 bytes, base64url: `x` of its JWK (RFC 8037). */
    readonly x: string;
    /** The private key, 32 bytes, under AES-256-GCM with the `kid` as additional data: nonce and ciphertext with tag, base64url. */
    readonly wrapped: { readonly nonce: string; readonly sealed: string };
  };
};

export type SigningKey = SigningKeyEvent['data'];

/** Every key that was made, oldest first. */
export type SigningKeyState = readonly SigningKey[];

export const noSigningKeys: SigningKeyState = [];

/** The keys after one more event. Total: an unknown event changes nothing. */
export const evolveSigningKeys = (state: SigningKeyState, event: SigningKeyEvent | UnknownEvent): SigningKeyState =>
  event.type === 'SigningKeyMade' ? [...state, event.data] : state;

/** The key that signs new verdicts: the newest with this algorithm name, undefined if there is none. */
export const currentSigningKey = (state: SigningKeyState, alg: SigningKey['alg']): SigningKey | undefined =>
  state.findLast((key) => key.alg === alg);

/** The decoder of the stream of signing keys. */
export const signingKeyEvents = decoderOf<SigningKeyEvent>({ SigningKeyMade: [] });
