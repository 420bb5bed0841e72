import type { IncomingHttpHeaders } from 'node:http';

import type { Random } from '../../../ports/random.js';

/** Visible ASCII, at most 128 characters: the form of request ids and idempotency keys. */
const visible = /^[\x21-\x7e]{1,128}$/;
/** W3C Trace Context, version 00 and the beginning of later ones. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;
const PREFIX_BYTES = 9;

export const isVisible = (text: string): boolean => visible.test(text);

/**
 * Gives each request an id: the client's `X-Request-Id` if it is valid, otherwise the trace id of its `traceparent`, otherwise a new id. New ids share a
 * random prefix that is drawn once, so a request costs no random bytes.
 */
export const createRequestIds = (random: Random): ((headers: IncomingHttpHeaders) => string) => {
  const prefix = Buffer.from(random.bytes(PREFIX_BYTES)).toString('base64url');
  let count = 0;
  return (headers) => {
    const given = headers['x-request-id'];
    if (typeof given === 'string' && visible.test(given)) return given;
    const parent = headers['traceparent'];
    const trace = typeof parent === 'string' ? traceparent.exec(parent)?.[1] : undefined;
    if (trace !== undefined) return trace;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
};
