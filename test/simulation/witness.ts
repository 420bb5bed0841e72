import { isDeepStrictEqual } from 'node:util';

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

/** Writes down what bodies were told, and what they should not have been told. */
export class Witness {
  readonly acks: Acknowledged[] = [];
  readonly violations: string[] = [];
  /** How often each refusal was given. */
  readonly refusals = new Map<string, number>();
  /** Hashes that were shown, by mind and revision. */
  readonly hashes = new Map<string, Map<number, string>>();

  violated(what: string): void {
    this.violations.push(what);
  }

  refused(what: string): void {
    this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
  }

  acknowledged(ack: Acknowledged): void {
    this.acks.push(ack);
  }

  repeated(request: Request, first: Reply, second: Reply): void {
    if (first.status === second.status && isDeepStrictEqual(first.body, second.body)) return;
    // An update is answered with the current mind. So is its repeat where the first answer was dropped, and that answer may be kept in its turn.
    if (request.path === '/npcs' && second.status === first.status) return;
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
