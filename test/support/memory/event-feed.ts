import { jsonBytes } from '../../../src/kernel/base/json.js';
import { READ_BYTES, untilFull } from '../../../src/kernel/base/page-size.js';
import type {
  EventFeed,
  FeedEntry,
  FeedHandlers,
  FeedLink,
  FeedSession,
  FeedWriter,
} from '../../../src/ports/event-feed.js';

/** The maximum number of links in one batch. */
const BATCH_LINKS = 50;

type Member = { readonly handlers: FeedHandlers; owned: ReadonlySet<number>; generation: number };

/** A partitioned log in memory with one group of readers. Partitions are reassigned whenever a reader joins or leaves. */
export class MemoryFeed implements FeedWriter, EventFeed {
  readonly #log: FeedLink[][];
  readonly #committed: number[];
  readonly #members: Member[] = [];
  readonly #wakes = new Set<() => void>();

  constructor(partitions: number) {
    this.#log = Array.from({ length: partitions }, () => []);
    this.#committed = this.#log.map(() => 0);
  }

  /** The contents of each partition, in order. */
  get log(): readonly (readonly FeedLink[])[] {
    return this.#log;
  }

  /** Where delivery of each partition would restart. */
  get committed(): readonly number[] {
    return this.#committed;
  }

  async open(): Promise<FeedSession> {
    return {
      partitions: this.#log.length,
      write: async (entries) => this.append(entries),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  append(entries: readonly FeedEntry[]): void {
    for (const { partition, link } of entries) this.#log[partition]?.push(link);
    this.#wakeAll();
  }

  /** Reassigns the partitions. Messages being handled are delivered again, to the reader that has the partition now. */
  rebalance(shift = 1): void {
    this.#members.push(...this.#members.splice(0, shift));
    for (const [at, member] of this.#members.entries()) {
      const owned = this.#log.flatMap((_, partition) => (partition % this.#members.length === at ? [partition] : []));
      member.owned = new Set(owned);
      member.generation += 1;
      member.handlers.assigned(owned, this.#log.length);
      for (const partition of owned) void this.#deliver(member, partition, member.generation);
    }
    this.#wakeAll();
  }

  async follow(handlers: FeedHandlers, signal: AbortSignal): Promise<void> {
    const member: Member = { handlers, owned: new Set(), generation: 0 };
    this.#members.push(member);
    this.rebalance(0);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    this.#members.splice(this.#members.indexOf(member), 1);
    member.generation += 1;
    this.#wakeAll();
    this.rebalance(0);
  }

  async #deliver(member: Member, partition: number, generation: number): Promise<void> {
    const isStale = (): boolean => member.generation !== generation;
    let next = this.#committed[partition] ?? 0;
    while (!isStale()) {
      const waiting = this.#log[partition]?.slice(next, next + BATCH_LINKS) ?? [];
      const links = [...untilFull(waiting, jsonBytes, READ_BYTES)];
      if (links.length === 0) {
        await new Promise<void>((resolve) => this.#wakes.add(resolve));
        continue;
      }
      const bytes = links.reduce((sum, link) => sum + jsonBytes(link), 0);
      const done = await member.handlers.handle({ partition, links, bytes, isStale });
      if (isStale()) return;
      next += links.length;
      if (done) this.#committed[partition] = next;
    }
  }

  #wakeAll(): void {
    const wakes = [...this.#wakes];
    this.#wakes.clear();
    for (const wake of wakes) wake();
  }
}
