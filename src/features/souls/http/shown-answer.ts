import type { Context } from 'koa';

import type { OpenPayload } from '../shown-payloads.js';
import { onClosed } from '../../../kernel/http/on-closed.js';
import { piecesOf } from './pieces.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import type { StreamedAnswer } from '../../../kernel/http/route.js';

/** JSON that is sent piece by piece, no faster than its client reads: it does not end, for who counts requests, before it is taken. */
export const jsonInPieces = (body: unknown): StreamedAnswer => ({
  type: JSON_TYPE,
  chunks: async function* () {
    yield* piecesOf(Buffer.from(JSON.stringify(body)));
  },
});

/** An answer that is in memory until its client has taken it or left. */
export const shownAnswer = (
  ctx: Pick<Context, 'req' | 'res'>,
  { bytes, close }: OpenPayload,
  type: string,
): StreamedAnswer => {
  // Its chunks may never be requested, and a response to HEAD has none.
  if (ctx.req.method === 'HEAD') close();
  else onClosed(ctx, close);
  return {
    type,
    chunks: async function* () {
      yield* piecesOf(bytes);
    },
  };
};
