const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The bytes as one big-endian number in base 62, padded with zeros to `width` digits.
 * @throws RangeError when the number needs more digits than that
 */
export const base62 = (bytes: Uint8Array, width: number): string => {
  let rest = bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  if (text.length > width) throw new RangeError(`${String(bytes.length)} bytes do not fit ${String(width)} digits`);
  return text.padStart(width, '0');
};
