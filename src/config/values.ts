import type { RateLimit } from '../kernel/base/rate-limit.js';

// Each function reads one value, and returns null if it is invalid.

const MAX_RATE = 1_000_000;
const MAX_WINDOW_SECONDS = 86_400;

/** Valid names of Kafka topics; names of internal topics start with "__". */
export const topicName = /^(?!\.{1,2}$|__)[A-Za-z0-9._-]{1,249}$/;
/** Kafka treats names that differ only in "." and "_" as the same topic. */
export const areOneTopic = (one: string, other: string): boolean =>
  one.replaceAll('.', '_') === other.replaceAll('.', '_');
export const hostAndPort = /^[\w.-]+:\d{1,5}$/;

/** What may be shown of an address that may contain a password. */
export const protocolOf = (text: string): string => {
  const [protocol] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  return protocol === undefined
    ? 'this value (not shown, because it may contain a password)'
    : `a value that starts with ${JSON.stringify(protocol)}`;
};

/** A whole number written in plain digits, or null. */
export const integer = (text: string, min: number, max: number): number | null => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : null;
};

/** An http or https URL without a query, a fragment, a user or a password; without slashes at its end. */
export const plainUrl = (text: string): string | null => {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const plain = /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
  return plain && url.password === '' ? url.href.replace(/\/+$/, '') : null;
};

/** Where checkpoints are published: a plain URL, or the URL of a local file. */
export const checkpointUrl = (text: string): string | null => {
  if (!URL.canParse(text) || new URL(text).protocol !== 'file:') return plainUrl(text);
  const { host, pathname, search, hash, href } = new URL(text);
  return host === '' && search === '' && hash === '' && !pathname.endsWith('/') ? href : null;
};

export const rateLimit = (text: string): RateLimit | 'off' | null => {
  if (text === 'off') return 'off';
  const [limitText = '', windowText = '', ...rest] = text.split('/');
  const limit = integer(limitText, 1, MAX_RATE);
  const windowSeconds = integer(windowText, 1, MAX_WINDOW_SECONDS);
  return limit === null || windowSeconds === null || rest.length > 0 ? null : { limit, windowSeconds };
};

/** The root of an OpenAI-compatible API: a plain URL that ends in `/v1`. */
export const apiRoot = (text: string): string | null => {
  const url = plainUrl(text);
  return url?.endsWith('/v1') === true ? url : null;
};
