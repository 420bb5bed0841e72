import { jcs } from '../base/json.js';
import { sha256Base64url } from './sha256.js';

/** An Ed25519 public key as a JWK (RFC 8037): exactly the members that its thumbprint covers. */
export type Ed25519Jwk = { readonly crv: 'Ed25519'; readonly kty: 'OKP'; readonly x: string };

/** @param x the public key, 32 bytes, base64url */
export const ed25519Jwk = (x: string): Ed25519Jwk => ({ crv: 'Ed25519', kty: 'OKP', x });

/** The RFC 7638 thumbprint of an Ed25519 public key, base64url. */
export const thumbprint = (x: string): string => sha256Base64url(jcs(ed25519Jwk(x)));
