import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../../src/kernel/base/json.js';
import type { Reply, Request } from './request.js';

/** What a body was told: the mind's stream (null: that of a ruleset) holds an event of one of these types with the marker. */
export type Acknowledged = {
  readonly npcId: string | null;
  readonly marker: string;
  readonly types: readonly string[];
  readonly request: Request;
  readonly reply: Reply;
};

type ShownEvent = { readonly revision: number; readonly hash: string };

/** The turn of an answer to a step. */
const turnOf = ({ body }: Reply): unknown =>
  isObject(body) && isObject(body['tape']) ? body['tape']['turnId'] : undefined;

/** Writes down what bodies were told, and what they should not have been told. */
export class Witness {
  readonly acks: Acknowledged[] = [];
  readonly #losesAnswers: boolean;
  readonly violations: string[] = [];
  /** Keys whose day ended when a clock leapt: their requests may be done again. */
  readonly expiredKeys = new Set<string>();
  /** Markers of turns that were open while a clock was a day ahead: they may expire, and be followed by another turn. */
  readonly mayExpire = new Set<string>();
  /** How often each refusal was given. */
  readonly refusals = new Map<string, number>();
  /** Hashes that were shown, by mind and revision. */
  readonly hashes = new Map<string, Map<number, string>>();

  /** @param losesAnswers whether answers may be dropped, or not kept at all: a repeat is then answered with what is there by now */
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
    // An update is answered with the current mind. So is its repeat, where the database could not keep the first answer.
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
