import { constants } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { fileURLToPath } from 'node:url';

import type { Log } from '../../ports/log.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import type { CheckpointReceiver } from '../../ports/checkpoint-receiver.js';
import type { Clock } from '../../ports/clock.js';
import { lastKeptIn } from './last-kept.js';
import { checkedAddresses, pinned, type Resolve } from './checked-get.js';

/** The timeout of a receiver for one note, connecting included, in milliseconds. */
const HAND_ON_MS = 5_000;
/**
 * How long a file may take to tell what it keeps, in milliseconds. Nobody may wait long for a disk that does not answer; a file of a gigabyte is read
 * in this time.
 */
const LAST_KEPT_MS = 5_000;

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
 * `{"note"}` at the end of a file, which may hold the notes of several logs. Only a file can tell what it keeps.
 */
export const createCheckpointReceiver = (
  url: string,
  {
    clock,
    resolve,
    log,
  }: { readonly clock: Pick<Clock, 'after'>; readonly resolve: Resolve; readonly log: Pick<Log, 'warn'> },
): CheckpointReceiver => {
  const target = new URL(url);
  const late = (): Error => new Error('the receiver did not respond in time');
  const failed = (err: unknown): never => {
    log.warn({ err }, 'Failed to publish a checkpoint (ANIMA_CHECKPOINT_URL); it is sent with the next one');
    throw err;
  };
  return {
    lastKept: async (nameCount) => {
      if (target.protocol !== 'file:') return null;
      const tooLong = (): Error =>
        new Error('it was not read in time: begin a new file if it holds more than a gigabyte');
      return withTimeLimit(clock, { ms: LAST_KEPT_MS, late: tooLong }, (ending) =>
        lastKeptIn(fileURLToPath(target), nameCount, ending),
      );
    },
    handOn: (note, signal) =>
      withTimeLimit(clock, { ms: HAND_ON_MS, late, signal }, async (ending) => {
        if (target.protocol === 'file:')
          return appendFile(fileURLToPath(target), `${JSON.stringify({ note })}\n`, { flag: APPENDED });
        const status = await post(target, await checkedAddresses(target, true, resolve), note, ending);
        if (status < 200 || status > 299) throw new Error(`the receiver responded with HTTP ${String(status)}`);
      }).catch(failed),
  };
};
