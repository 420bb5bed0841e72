import { Rejection } from '../base/rejection.js';
import type { Call } from './route.js';

/** An entity tag (RFC 9110, 8.8.3). Node gives each byte of a header as one character. */
const TAG = String.raw`(?:W\/)?"[!#-~\x80-\xff]*"`;
/** A list of them, which may have empty elements (RFC 9110, 5.6.1). */
const LIST = new RegExp(String.raw`^[ \t,]*${TAG}(?:[ \t]*,[ \t,]*${TAG})*[ \t,]*$`);

/**
 * The tags that `If-Match` names (RFC 9110, 13.1.1), as they are written: compared as texts, a weak one matches none. Null without the header, and for
 * `*`, which matches whatever exists.
 * @throws Rejection HEADER_INVALID
 */
export const ifMatch = (call: Pick<Call, 'header'>): readonly string[] | null => {
  const header = call.header('if-match')?.trim();
  if (header === undefined || header === '*') return null;
  if (!LIST.test(header)) {
    throw new Rejection('HEADER_INVALID', {
      message: 'If-Match must be one or more entity tags, such as "16", or *.',
      details: { header: 'If-Match' },
    });
  }
  return header.match(new RegExp(TAG, 'g')) ?? [];
};
