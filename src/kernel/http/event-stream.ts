import type { StreamedAnswer } from './route.js';

export const EVENT_STREAM = 'text/event-stream';

/** How often an idle stream sends a comment, in milliseconds. */
export const COMMENT_EVERY_MS = 15_000;

/** A response of Server-Sent Events that proxies neither cache nor buffer. */
export const eventStream = (
  chunks: StreamedAnswer['chunks'],
): { readonly headers: Readonly<Record<string, string>>; readonly stream: StreamedAnswer } => ({
  headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  stream: {
    type: `${EVENT_STREAM}; charset=utf-8`,
    chunks,
    heartbeat: { everyMs: COMMENT_EVERY_MS, chunk: ':\n\n' },
  },
});
