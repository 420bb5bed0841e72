import { createHash, createPublicKey, verify } from 'node:crypto';

import { ed25519Jwk } from '../../../kernel/crypto/jwk.js';

/**
 * Signed notes (C2SP signed-note): a text, an empty line, and lines with signatures of that text. Anima signs them with Ed25519, algorithm 1, under
 * one name.
 */

/** The longest note that is read, in characters, and its maximum number of signatures: witnesses may have added theirs. */
export const NOTE_CHARS = 65_536;
const NOTE_SIGNATURES = 64;
const KEY_ID_BYTES = 4;
const ED25519 = 1;
const SIGNATURE_BYTES = 64;

export type NoteSignature = { readonly name: string; readonly keyId: Uint8Array; readonly signature: Uint8Array };
/** A parsed note: the signed text, including its final line break, and the signatures, none of which was checked. */
export type Note = { readonly text: string; readonly signatures: readonly NoteSignature[] };

/** Whether a text is a valid name of a key. */
export const isKeyName = (name: string): boolean => /^[^\s\u0085+]{1,1024}$/u.test(name);

/**
 * The id of a key in a note: the first four bytes of SHA-256 of its name, a line break, the algorithm and the public key.
 * @param x the public key, 32 bytes, base64url
 */
export const noteKeyId = (name: string, x: string): Uint8Array =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Uint8Array.of(ED25519))
    .update(Buffer.from(x, 'base64url'))
    .digest()
    .subarray(0, KEY_ID_BYTES);

const signatureLine = ({ name, keyId, signature }: NoteSignature): string =>
  `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`;

/** A text with its signatures, in this order. */
export const writeNote = (text: string, ...signatures: readonly NoteSignature[]): string =>
  `${text}\n${signatures.map(signatureLine).join('')}`;

const SIGNATURE_LINE = /^— ([^\s\u0085+]{1,1024}) ([A-Za-z0-9+/]+={0,2})$/u;
/** Other control characters could hide a part of the text from readers. */
// eslint-disable-next-line no-control-regex -- these are the characters that a note may not hold
const FORBIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f]|\p{Surrogate}/u;

/** Reads a note; null if the text is not one. */
export const readNote = (note: string): Note | null => {
  if (note.length > NOTE_CHARS || FORBIDDEN.test(note) || !note.endsWith('\n')) return null;
  const split = note.lastIndexOf('\n\n');
  if (split <= 0) return null;
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > NOTE_SIGNATURES) return null;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const [, name, encoded = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (name === undefined || bytes.toString('base64') !== encoded || bytes.length <= KEY_ID_BYTES) return null;
    signatures.push({ name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) });
  }
  return { text: note.slice(0, split + 1), signatures };
};

const isSigned = (text: string, signature: Uint8Array, x: string): boolean => {
  try {
    const key = createPublicKey({ key: ed25519Jwk(x), format: 'jwk' });
    return signature.length === SIGNATURE_BYTES && verify(null, Buffer.from(text), key, signature);
  } catch {
    return false;
  }
};

/**
 * Which of these public keys (`x` of their JWKs) have signed a note under this name, in their order. A wrong signature of one of them counts as
 * none.
 */
export const signersOf = <Key extends { readonly x: string }>(
  { text, signatures }: Note,
  name: string,
  keys: readonly Key[],
): readonly Key[] =>
  keys.filter((key) => {
    const id = Buffer.from(noteKeyId(name, key.x));
    return signatures.some((one) => one.name === name && id.equals(one.keyId) && isSigned(text, one.signature, key.x));
  });
