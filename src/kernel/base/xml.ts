const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text as content or attribute of XML 1.0; characters that XML does not allow (2.2) are left out. */
export const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // eslint-disable-next-line no-control-regex -- the characters that XML leaves out
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replace(/[&<>"']/g, (char) => entities[char] ?? '');
