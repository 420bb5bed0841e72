import type { Sliced } from './sliced.js';

/** How many bytes are decoded before yielding: at most two milliseconds. */
const SLICE_BYTES = 524_288;

/** For short texts. It has no state between texts. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes UTF-8, without a byte order mark. It yields whenever the driver may pause.
 * @throws TypeError for bytes that are not UTF-8
 */
export function* utf8Slices(bytes: Uint8Array): Sliced<string> {
  if (bytes.length <= SLICE_BYTES) return decoder.decode(bytes);
  const pieces = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    text += pieces.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true });
    yield SLICE_BYTES;
  }
  return text + pieces.decode();
}
