/** The address that a public URL means: without what makes two texts of one address differ; null when it is none, or means another machine everywhere. */
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
