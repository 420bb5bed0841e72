import type { IncomingMessage } from 'node:http';

import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { archiveUnavailable } from '../../ports/archive-unavailable.js';
import type { Clock } from '../../ports/clock.js';
import type { GatewayAddress, PayloadSource } from '../../ports/payload-source.js';
import { MAX_ARCHIVED_BYTES } from '../../ports/soul-archive.js';
import { boundedBytes } from '../shared/bounded-bytes.js';
import { checkedGet, type Resolve } from './checked-get.js';

/** The timeout of a gateway until its answer begins, connecting and redirects included, and until it ends, in milliseconds. */
const BEGIN_MS = 4_000;
const WHOLE_MS = 8_000;

/** How long a caller must have waited to conclude that a host cannot be reached, in milliseconds: one that left earlier shows nothing. */
const REACH_MS = 500;
/** How long an unreachable host is not tried again, in milliseconds. */
const UNREACHED_MS = 5_000;

/** Statuses that mean that there is no payload: a gateway of Arweave answers 202 for one that is not settled yet. */
const NOTHING: ReadonlySet<number> = new Set([202, 204, 400, 404, 410]);

/** The body as it is on the wire: nothing is decompressed. @throws Error if the answer cannot be used */
const payloadIn = async (answer: IncomingMessage): Promise<Uint8Array | 'too_large' | null> => {
  const { statusCode = 0, headers } = answer;
  if (NOTHING.has(statusCode)) return null;
  if (statusCode !== 200) throw new Error(`it responded with HTTP ${String(statusCode)}`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new Error('it sent an unrequested compressed response');
  if (Number(headers['content-length'] ?? 0) > MAX_ARCHIVED_BYTES) return 'too_large';
  const bytes = await boundedBytes(answer as AsyncIterable<Uint8Array>, MAX_ARCHIVED_BYTES);
  if (bytes !== null && !answer.complete) throw new Error('its response was cut off');
  return bytes ?? 'too_large';
};

/** A gateway over HTTP, which answers `<url>/<id>` without a key. */
export const createGateway = (
  address: GatewayAddress,
  { clock, resolve }: { readonly clock: Pick<Clock, 'after' | 'monotonicMs'>; readonly resolve: Resolve },
): PayloadSource => {
  const name = new URL(address.url).host;
  const late = (): Error => new Error('it did not respond in time');
  const limited = <T>(ms: number, signal: AbortSignal | undefined, work: (ending: AbortSignal) => Promise<T>) =>
    withTimeLimit(clock, { ms, late, signal }, work);
  let unreached: { readonly untilMs: number; readonly error: unknown } | null = null;
  return {
    name,
    fetch: async (id, signal) => {
      if (unreached !== null && clock.monotonicMs() < unreached.untilMs) {
        throw archiveUnavailable('gateway', unreached.error);
      }
      const host = { isReached: false };
      const beganMs = clock.monotonicMs();
      const reached = (): void => void (host.isReached = true);
      let answer: IncomingMessage | undefined;
      try {
        return await limited(WHOLE_MS, signal, async (ending) => {
          answer = await limited(BEGIN_MS, ending, (soon) => checkedGet(address, id, { resolve, reached }, soon));
          return payloadIn(answer);
        });
      } catch (error) {
        const nowMs = clock.monotonicMs();
        const hasLeft = signal?.aborted === true;
        // A later failure may be due to the id, and shows nothing about others.
        if (!host.isReached && (!hasLeft || nowMs - beganMs >= REACH_MS)) {
          unreached = { untilMs: nowMs + UNREACHED_MS, error };
        }
        if (hasLeft) throw error;
        // The addresses of the operator's gateways are not for clients; the log has them.
        throw archiveUnavailable('gateway', error);
      } finally {
        answer?.destroy();
      }
    },
  };
};
