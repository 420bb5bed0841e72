import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../../src/kernel/base/json.js';
import type { Reply, Request } from './request.js';

/** What a response showed to a body: the mind's stream (null: a ruleset's) has an event of one of these types with the marker. */
export type Acknowledged = {
  readonly npcId: string | null;
  readonly marker: string;
  readonly types: readonly string[];
  readonly request: Request;
  readonly reply: Reply;
};

type ShownEvent = { readonly revision: number; readonly hash: string };

/** The turn of a response to a step. */
const turnOf = ({ body }: Reply): unknown =>
  isObject(body) && isObject(body['tape']) ? body['tape']['turnId'] : undefined;

/** Records the responses to bodies, and the wrong ones among them. */
export class Witness {
  readonly acks: Acknowledged[] = [];
  readonly #losesAnswers: boolean;
  readonly violations: string[] = [];
  /** Keys that expired when a clock jumped: their requests may be executed again. */
  readonly expiredKeys = new Set<string>();
  /** Markers of turns that were open while a clock was a day ahead: they may expire, and be followed by another turn. */
  readonly mayExpire = new Set<string>();
  /** How often each refusal was given. */
  readonly refusals = new Map<string, number>();
  /** Hashes that were shown, by mind and revision. */
  readonly hashes = new Map<string, Map<number, string>>();

  /** @param losesAnswers whether responses may be evicted, or not stored at all: a repeat then gets the current state */
  constructor(losesAnswers: boolean) {
    this.#losesAnswers = losesAnswers;
  }

  violated(what: string): void {
    this.violations.push(what);
  }

  refused(what: string): void {
    this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
  }

  acknowledged(ack: Acknowledged): void {
    this.acks.push(ack);
  }

  mayRecur({ marker, request }: Acknowledged): boolean {
    return this.mayExpire.has(marker) || (request.key !== undefined && this.expiredKeys.has(request.key));
  }

  repeated(request: Request, first: Reply, second: Reply): void {
    if (first.status === second.status && isDeepStrictEqual(first.body, second.body)) return;
    // An update returns the current mind. So does its repeat, if the database could not store the first response.
    const isKept = second.headers['idempotency-replayed'] === 'true';
    if (request.path === '/npcs' && (!isKept || this.#losesAnswers) && second.status === first.status) return;
    // The same turn, further on.
    const turnIn = turnOf(first);
    if (this.#losesAnswers && turnIn !== undefined && turnIn === turnOf(second) && second.status === first.status)
      return;
    this.violated(
      `a repeat of ${request.path} ${JSON.stringify(request.body)} was answered ${JSON.stringify(second.body)} after ${JSON.stringify(first.body)}`,
    );
  }

  sawHistory(npcId: string, { events }: { readonly events: readonly ShownEvent[] }): void {
    const known = this.hashes.get(npcId) ?? new Map<number, string>();
    this.hashes.set(npcId, known);
    for (const { revision, hash } of events) {
      if ((known.get(revision) ?? hash) !== hash)
        this.violated(`revision ${String(revision)} of ${npcId} was shown twice, not the same`);
      known.set(revision, hash);
    }
  }
}
