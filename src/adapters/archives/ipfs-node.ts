import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { archiveUnavailable } from '../../ports/archive-unavailable.js';
import { isObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { IpfsNode } from '../../ports/ipfs-node.js';
import { MAX_ARCHIVED_BYTES } from '../../ports/soul-archive.js';
import { boundedBytes } from '../shared/bounded-bytes.js';
import { boundedText } from '../shared/bounded-text.js';

/** The timeout of a node for adding a file, in milliseconds: less than the 60 s for keeping a soul. */
const ADD_MS = 45_000;
/** The timeout for sending a complete file. A node that does not have it asks others, which may take as long. */
const CAT_MS = 8_000;
/** The timeout for reporting its version: a slower node counts as down. */
const PING_MS = 1_500;
/** The maximum length of a reason in a log. */
const REASON_CHARS = 200;
/** The maximum number of bytes read of a node's response about a file. */
const MAX_SAID_BYTES = 64 * 1024;

/** Kubo's present defaults, stated explicitly so that no configuration of the node changes them. */
const ADD_OPTIONS = {
  'cid-version': '1',
  hash: 'sha2-256',
  chunker: 'size-262144',
  'raw-leaves': 'true',
  trickle: 'false',
  pin: 'true',
  quieter: 'true',
  progress: 'false',
};

/**
 * Kubo answers 500 for every failure. These messages mean that it has nothing under a CID that could be a file: no block, or one of another kind. Any
 * other reason, such as an unreadable repository, is a failure of the node itself.
 */
const NO_FILE = /not found|could not find|is a directory|^proto/i;

/** Why Kubo refuses a call; '' if it does not say. */
const reasonIn = (said: string | null): string => {
  try {
    const { Message: reason } = JSON.parse(said ?? '') as { readonly Message?: unknown };
    return typeof reason === 'string' ? reason : '';
  } catch {
    return '';
  }
};

const refusedWith = (status: number, reason = ''): Error =>
  new Error(
    `the IPFS node responded with HTTP ${String(status)}${reason === '' ? '' : `: ${reason.slice(0, REASON_CHARS)}`}`,
  );

/** The CID in the last line of the output of `add`; each line is an object. */
const cidIn = (said: string | null): string | null => {
  try {
    const last: unknown = JSON.parse(said?.trim().split('\n').at(-1) ?? '');
    return isObject(last) && typeof last['Hash'] === 'string' ? last['Hash'] : null;
  } catch {
    return null;
  }
};

/**
 * An IPFS node by its RPC API (https://docs.ipfs.tech/reference/kubo/rpc/), as Kubo implements it. The node belongs to the operator, so its address
 * is used without checks; a redirect is never followed.
 * @param url without a slash at its end
 */
export const createIpfsNode = (url: string, { clock }: { readonly clock: Pick<Clock, 'after'> }): IpfsNode => {
  const name = 'ipfs';
  /** Every call is a POST, so that no page in a browser can make it. */
  const call = async <T>(
    command: string,
    options: Readonly<Record<string, string>>,
    limit: { readonly ms: number; readonly signal?: AbortSignal | undefined },
    read: (answer: Response) => Promise<T>,
    body?: FormData,
  ): Promise<T> => {
    const { ms, signal } = limit;
    const late = (): Error => archiveUnavailable(name);
    try {
      return await withTimeLimit(clock, { ms, late, signal }, async (ending) => {
        const target = `${url}/api/v0/${command}?${new URLSearchParams(options).toString()}`;
        const answer = await fetch(target, {
          method: 'POST',
          redirect: 'manual',
          signal: ending,
          ...(body && { body }),
        });
        try {
          return await read(answer);
        } finally {
          if (!answer.bodyUsed) await answer.body?.cancel();
        }
      });
    } catch (error) {
      if (error instanceof Rejection || signal?.aborted === true) throw error;
      throw archiveUnavailable(name, error);
    }
  };
  return {
    name,
    add: async (bytes, signal) => {
      const form = new FormData();
      form.append('file', new Blob([bytes]), 'soul');
      return call(
        'add',
        ADD_OPTIONS,
        { ms: ADD_MS, signal },
        async (answer) => {
          const said = await boundedText(answer, MAX_SAID_BYTES);
          const cid = answer.status === 200 ? cidIn(said) : null;
          if (cid === null) throw new Error(`the IPFS node responded with HTTP ${String(answer.status)} without a CID`);
          return cid;
        },
        form,
      );
    },
    fetch: (cid, signal) =>
      // One byte more than allowed, to detect that there are more.
      call('cat', { arg: cid, length: String(MAX_ARCHIVED_BYTES + 1) }, { ms: CAT_MS, signal }, async (answer) => {
        if (answer.status !== 200) {
          const reason = reasonIn(await boundedText(answer, MAX_SAID_BYTES));
          if (answer.status === 500 && NO_FILE.test(reason)) return null;
          throw refusedWith(answer.status, reason);
        }
        const bytes = await boundedBytes((answer.body ?? []) as AsyncIterable<Uint8Array>, MAX_ARCHIVED_BYTES);
        return bytes ?? 'too_large';
      }),
    ping: () =>
      call('version', {}, { ms: PING_MS }, async (answer) => {
        await boundedText(answer, MAX_SAID_BYTES);
        if (answer.status !== 200) throw refusedWith(answer.status);
      }),
  };
};
