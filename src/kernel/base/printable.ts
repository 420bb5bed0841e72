/**
 * A text that is safe to print on a terminal. Control and format characters become `\uXXXX`, so texts of a game's players can neither move the cursor
 * nor change the reading direction. Still valid inside JSON. The two joiners stay: emoji and several scripts need them.
 */
export const printable = (text: string): string =>
  text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
