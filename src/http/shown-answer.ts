import type { Context } from 'koa';

import type { OpenPayload } from '../app/souls/shown-payloads.js';
import { piecesOf } from './pieces.js';
import { JSON_TYPE } from './respond.js';
import type { StreamedAnswer } from './route.js';

async function* chunksOf({ bytes, close }: OpenPayload): AsyncGenerator<Uint8Array, void> {
  try {
    yield* piecesOf(bytes);
  } finally {
    close();
  }
}

/** JSON that is sent piece by piece, no faster than its client reads: it does not end, for who counts requests, before it is taken. */
export const jsonInPieces = (body: unknown): StreamedAnswer => ({
  type: JSON_TYPE,
  chunks: async function* () {
    yield* piecesOf(Buffer.from(JSON.stringify(body)));
  },
});

/** An answer that is in memory until its client has taken it or left. */
export const shownAnswer = ({ req, res }: Context, payload: OpenPayload, type: string): StreamedAnswer => {
  // Nobody will read the chunks then.
  if (req.method === 'HEAD' || res.destroyed) payload.close();
  return { type, chunks: () => chunksOf(payload) };
};
