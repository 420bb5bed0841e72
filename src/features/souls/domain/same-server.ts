/**
 * The address in a public URL, normalised so that different spellings are equal; null if it is not a URL, or a loopback address, which every machine
 * has.
 */
const addressOf = (url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)) return null;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, '')}`;
};

/**
 * Whether two public URLs mean the same server. An address of the machine itself claims nothing: every server without a configured public URL
 * has one.
 */
export const isSameServer = (one: string, other: string): boolean => {
  const address = addressOf(one);
  return address !== null && address === addressOf(other);
};
