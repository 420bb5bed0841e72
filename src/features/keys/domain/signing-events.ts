import { decoderOf } from '../../../kernel/base/decoder.js';

/**
 * The events of the stream of signing keys. The shapes are storage: they never change and are only upcast (docs/adr/0004). The private half is only
 * ever stored wrapped: without the server's secret the stream signs nothing.
 */
export type SigningKeyEvent =
  | {
      /** The newest key of an algorithm signs. A rotation is one more event of this type, which servers from before rotations understand. */
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
    }
  | {
      type: 'SigningKeyRevoked';
      data: {
        readonly kid: string;
        /** What the key signed from this instant on is void (RFC 3339). */
        readonly since: string;
        /** It is public. */
        readonly reason: string;
      };
    };

/** The decoder of the stream of signing keys. */
export const signingKeyEvents = decoderOf<SigningKeyEvent>({ SigningKeyMade: [], SigningKeyRevoked: [] });
