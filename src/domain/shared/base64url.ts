/**
 * Whether a text is base64url as an encoder writes it: no padding, no white space, unused bits zero. Decoders are more lenient, so without this check
 * one signature could have many texts, and a program that compares or stores them would take them for different signatures.
 */
export const isCanonicalBase64url = (text: string): boolean =>
  Buffer.from(text, 'base64url').toString('base64url') === text;
