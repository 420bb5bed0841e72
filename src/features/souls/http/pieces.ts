/** How many bytes go into one chunk of an answer. A multiple of three, so that each is whole in base64. */
const PIECE_BYTES = 48 * 1024;

/** Bytes in pieces, which are not copied. */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** The base64 (RFC 4648) of bytes, in pieces. */
export function* base64Of(bytes: Uint8Array): Generator<string, void> {
  for (const piece of piecesOf(bytes)) yield Buffer.from(piece).toString('base64');
}
