/** Cuts and cleans texts, so a recorded text can always be serialised: no lone surrogates. */

/** At most `chars` UTF-16 units of a text, never half a character; `…` marks that something is missing. */
export const cutText = (text: string, chars: number): string => {
  if (text.length <= chars) return text;
  const kept = text.slice(0, Math.max(0, chars - 1));
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
};

/** The longest beginning of a text that fits into `bytes` bytes of UTF-8. */
export const cutBytes = (text: string, bytes: number): string => {
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
};

/**
 * The longest beginning of a text whose JSON form, without its quotes, has at most `bytes` bytes of UTF-8; never half a character, and `…`
 * marks that something is missing.
 * @param escaped how many bytes a quote or a backslash takes: 2, or 4 in JSON inside JSON
 */
export const cutJsonText = (text: string, bytes: number, escaped: 2 | 4 = 2): string => {
  const whole = text.length * 6 <= bytes;
  const room = bytes - ELLIPSIS_BYTES;
  let used = 0;
  let fits = 0;
  for (let at = 0; !whole && at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    const units = code > 0xffff ? 2 : 1;
    used +=
      code === 0x22 || code === 0x5c
        ? escaped
        : code < 0x20 || (code >= 0xd800 && code <= 0xdfff)
          ? 6
          : code < 0x80
            ? 1
            : code < 0x800
              ? 2
              : units + 2;
    if (used > bytes) return `${text.slice(0, fits)}…`;
    at += units;
    if (used <= room) fits = at;
  }
  return text;
};
const ELLIPSIS_BYTES = 3;
