import { constants } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { fileURLToPath } from 'node:url';

import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import type { CheckpointReceiver } from '../../ports/checkpoint-receiver.js';
import type { Clock } from '../../ports/clock.js';
import { checkedAddresses, pinned, type Resolve } from './checked-get.js';

/** The timeout of a receiver for one note, connecting included, in milliseconds. */
const HAND_ON_MS = 5_000;

/** Does not wait for the reader of a pipe: each wait would occupy one of the few threads that all files of this process need. */
const APPENDED = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK;

/** Sends a note, and returns the status of the response, whose body is not read. */
const post = (url: URL, addresses: readonly string[], note: string, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(note),
      'user-agent': 'anima',
    };
    const answered = (answer: IncomingMessage): void => {
      answer.on('error', () => undefined);
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    };
    request(url, { method: 'POST', lookup: pinned(addresses), agent: false, headers, signal }, answered)
      .on('error', reject)
      .end(note);
  });

/**
 * Sends notes to `ANIMA_CHECKPOINT_URL`: as a POST of the note, to a host that is checked first and without following redirects, or as a line of JSON
 * `{"note"}` at the end of a file.
 */
export const createCheckpointReceiver = (
  url: string,
  { clock, resolve }: { readonly clock: Pick<Clock, 'after'>; readonly resolve: Resolve },
): CheckpointReceiver => {
  const target = new URL(url);
  const late = (): Error => new Error('the receiver did not respond in time');
  return {
    handOn: (note, signal) =>
      withTimeLimit(clock, { ms: HAND_ON_MS, late, signal }, async (ending) => {
        if (target.protocol === 'file:')
          return appendFile(fileURLToPath(target), `${JSON.stringify({ note })}\n`, { flag: APPENDED });
        const status = await post(target, await checkedAddresses(target, true, resolve), note, ending);
        if (status < 200 || status > 299) throw new Error(`the receiver responded with HTTP ${String(status)}`);
      }),
  };
};
