import type { IncomingMessage } from 'node:http';

import type { Sliced } from '../../domain/rules/hold-patterns.js';
import type { Json } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { inSlices } from '../../app/pacing/in-slices.js';
import { readJson } from '../json.js';
import { DEFAULT_BODY_LIMIT } from './read-body.js';

/** How many requests with a large body one route has at once in this process: each may take ten times as much memory as its bytes. */
const PLACES = 8;
/** What a large body may hold (contract 1.2): an empty list takes two bytes as text and a hundred as a value. A soul of the largest size has a third of it. */
export const MAX_CONTAINERS = 400_000;
export const MAX_ITEMS = 2_000_000;
/** How many bytes are looked at before other work has its turn: about a millisecond. */
const SLICE_BYTES = 524_288;

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

const tooMany = (): Rejection =>
  new Rejection('BODY_TOO_LARGE', {
    message: 'The body holds too many lists, objects or values.',
    details: { listsAndObjectsLimit: MAX_CONTAINERS, itemsLimit: MAX_ITEMS },
  });

/**
 * Counts what a text of JSON would become, before it is parsed: that cannot be paused, and a body of brackets alone would hold up everybody for seconds.
 * What is no JSON shows when it is parsed.
 * @throws Rejection BODY_TOO_LARGE
 */
export function* requireModest(bytes: Uint8Array): Sliced<void> {
  let containers = 0;
  let items = 0;
  let isText = false;
  let skips = 0;
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    const end = Math.min(bytes.length, from + SLICE_BYTES);
    let at = from + skips;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (isText) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
      else if (byte === COMMA) items += 1;
      else if (byte === LIST || byte === OBJECT) containers += 1;
    }
    // A backslash at the end of a slice takes the first byte of the next one with it.
    skips = at - end;
    if (containers > MAX_CONTAINERS || items > MAX_ITEMS) throw tooMany();
    yield SLICE_BYTES;
  }
}

/**
 * Reads JSON that stands as a text in a large body, as strictly as the body itself.
 * @throws Rejection BODY_TOO_LARGE, MALFORMED_JSON
 */
export const readLargeText = async (text: string): Promise<Json> => {
  await inSlices(requireModest(Buffer.from(text)));
  return readJson(text);
};

/** Places for requests with a large body: one whose length is beyond DEFAULT_BODY_LIMIT, or is not said. */
export const largeBodies = (): { enter(req: IncomingMessage): () => void } => {
  let taken = 0;
  return {
    /** @returns gives the place back @throws Rejection BUSY */
    enter: ({ headers }) => {
      const length = headers['content-length'];
      const isLarge =
        length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > DEFAULT_BODY_LIMIT;
      if (!isLarge) return () => undefined;
      if (taken >= PLACES) throw new Rejection('BUSY', { retryAfter: 1 });
      taken += 1;
      return () => void (taken -= 1);
    },
  };
};
