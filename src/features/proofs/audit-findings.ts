import type { EventFaults } from './audit-event.js';
import type { LogStatus } from './log-status.js';
import type { OrderPlace } from './audit-order.js';
import { type Acknowledgement, acknowledgedOf, type ChainDeps } from '../npcs/chain-breaks.js';
import { parseNpcStream } from '../../kernel/base/stream-names.js';
import type { ChainBreak } from '../../kernel/streams/hash-chain.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/** An answer ends after this many events and heads, or this many broken items. */
const ANSWER_EVENTS = 200_000;
const ANSWER_BROKEN = 200;

/** A mismatch in a stream, which may be the log. `npcId` is null for streams that are not of an NPC. */
export type Broken = {
  readonly stream: string;
  readonly npcId: string | null;
  readonly revision: number;
  readonly reason: string;
  /** An acknowledged break stays broken, so that nobody can talk an audit out of what it found. */
  readonly acknowledged: Acknowledgement | null;
};

export type AuditAnswer = {
  readonly valid: boolean;
  readonly streams: number;
  readonly events: number;
  readonly broken: readonly Broken[];
  /** Null if there is no log that can be read: then nothing was compared with it, and nothing counts as valid. */
  readonly log: LogStatus | null;
  readonly next?: string;
};

/** Where an audit continues: at an event of the chain of a named mind, in the global order, or at an event of the log. */
export type AuditPlace =
  { readonly npcId: string; readonly from: number } | { readonly order: OrderPlace } | { readonly log: number };

const writePlace = (place: AuditPlace): string => Buffer.from(JSON.stringify(place)).toString('base64url');

const breakReason = ({ member }: ChainBreak): string =>
  member === 'hash' ? 'its content does not match its hash' : 'it does not follow the previous event';

/** The accumulated answer. */
export class Findings {
  readonly #broken: (Omit<Broken, 'npcId'> & { readonly found?: ChainBreak })[] = [];
  readonly streams = new Set<string>();
  events = 0;
  readonly #log: LogStatus | null;

  constructor(log: LogStatus | null) {
    this.#log = log;
  }

  wrong(stream: string, revision: number, reason: string): void {
    this.#broken.push({ stream, revision, reason, acknowledged: null });
  }

  judged({ stream, revision }: RecordedEvent, { breaks, reasons }: EventFaults): void {
    for (const found of breaks)
      this.#broken.push({ stream, revision, reason: breakReason(found), acknowledged: null, found });
    for (const reason of reasons) this.wrong(stream, revision, reason);
  }

  checked(stream: string): void {
    this.streams.add(stream);
    this.events += 1;
  }

  get isFull(): boolean {
    return this.events >= ANSWER_EVENTS || this.#broken.length >= ANSWER_BROKEN;
  }

  /** What the streams say of their breaks; each is read once. */
  async #acknowledged(deps: ChainDeps): Promise<ReadonlyMap<ChainBreak, Acknowledgement | null>> {
    const of = new Map<ChainBreak, Acknowledgement | null>();
    for (const stream of new Set(this.#broken.map((one) => one.stream))) {
      const found = this.#broken.flatMap((one) =>
        one.stream === stream && one.found !== undefined ? [one.found] : [],
      );
      const { breaks } = await acknowledgedOf(deps, stream, found);
      found.forEach((one, place) => of.set(one, breaks[place]?.acknowledged ?? null));
    }
    return of;
  }

  async answer(deps: ChainDeps, next: AuditPlace | null): Promise<AuditAnswer> {
    const of = await this.#acknowledged(deps);
    const broken = this.#broken.map(({ found, ...one }) => ({
      ...one,
      npcId: parseNpcStream(one.stream)?.npcId ?? null,
      acknowledged: (found && of.get(found)) ?? null,
    }));
    return {
      valid: broken.length === 0 && this.#log !== null,
      streams: this.streams.size,
      events: this.events,
      broken,
      log: this.#log,
      ...(next === null ? {} : { next: writePlace(next) }),
    };
  }
}
