/** Cutting and cleaning of texts, so that what is recorded can always be serialised: no lone surrogates. */

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

/** The text with U+FFFD in place of lone surrogates, which JSON can write and UTF-8 cannot. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');
