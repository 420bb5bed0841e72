/** The address that a public URL means: without what makes two texts of one address differ; null when it is none, or means another machine everywhere. */
const addressOf = (url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)) return null;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, '')}`;
};

/**
 * Whether two public URLs mean the same server (contract 8.4). An address of the machine itself is nobody's claim: servers that nobody has given a
 * public URL all have one.
 */
export const isSameServer = (one: string, other: string): boolean => {
  const address = addressOf(one);
  return address !== null && address === addressOf(other);
};
