import { tenantNamesFold } from './tenant-fold.js';
import { LRUCache } from 'lru-cache';

import { tenantEvents } from './domain/events.js';
import { tenantOf, tenantsStream, tenantStream, tenantStreamPrefix } from '../../kernel/base/stream-names.js';
import { type ApiKey, keyIn } from './domain/key-map.js';
import { matchesHash, parseApiKey, tokenDigest } from './domain/api-key.js';
import { effectiveRateLimit, type RateLimit } from '../../kernel/base/rate-limit.js';
import type { Principal } from '../../kernel/base/scopes.js';
import { evolveTenant, initialTenant, isLive, noTenants, scopesOf, type TenantState } from './domain/state.js';
import { pause } from '../../kernel/concurrency/pause.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import { followSealed, nothingFollowed, type SealedEnd } from '../../kernel/streams/follow-sealed.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { KeyUsage } from '../../ports/key-usage.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';

/** The delay before a lost feed is resumed, in milliseconds: revocations by other servers take effect within a second. */
export const FEED_RETRY_MS = 250;

export type KeyDirectoryDeps = {
  readonly events: EventStore;
  readonly clock: Clock;
  readonly keyUsage: KeyUsage;
  /** 32 bytes: `deriveKey(secret, 'api-key-hash')`. */
  readonly hashKey: Uint8Array;
  /** Of events. */
  readonly seals: Seals;
  /** Whether the store has had seals since its beginning, so that no event of it may lack one. */
  readonly bornSealed: boolean;
  /** `ANIMA_RATE_LIMIT`; null if it is off. */
  readonly rateLimit: RateLimit | null;
  /** `ANIMA_TIERS`: whether a tenant's tier limits its keys. */
  readonly tiersActive: boolean;
  /** Called when the feed is lost (it is resumed after FEED_RETRY_MS), and with an UnreadableTenant. */
  readonly onCutOff: (error: unknown) => void;
};

/** A tenant's stream holds an event that this server cannot read, or that no server recorded so. */
export class UnreadableTenant extends Error {
  readonly stream: string;
  readonly revision: number;

  constructor({ stream, revision, type }: RecordedEvent, problem: string, options?: ErrorOptions) {
    const tenantId = tenantOf(stream) ?? '';
    const at = `event ${String(revision)} (${type}) of the tenant ${tenantId}`;
    super(`${at} ${problem}, so none of its keys is accepted`, options);
    this.stream = stream;
    this.revision = revision;
  }
}

/** How many of the most recently accepted keys are recognised without a full check. */
const RECOGNISED_KEYS = 1_024;

/** A tenant after the last event that was taken. */
type Known = { readonly end: SealedEnd; readonly state: TenantState };
const unknown: Known = { end: nothingFollowed, state: initialTenant };
type Entry = { readonly key: ApiKey; readonly principal: Principal };

/**
 * Every API key of every tenant, in memory, folded from the tenants' streams. `refresh` reads this server's own writes. Writes of other servers
 * arrive through one subscription to the tenants' streams only, because the delay of a revocation must not depend on the load from minds. The
 * directory holds only durable data.
 *
 * It takes only what a server recorded: an event whose hash or seal does not fit, or that does not follow the one before it, may grant anything. Its
 * tenant then has no keys here, and the others go on.
 */
export class KeyDirectory implements AsyncDisposable {
  readonly #deps: KeyDirectoryDeps;
  readonly #tenants = new Map<string, Known>();
  /** Keys that were issued and not revoked, by id. */
  readonly #keys = new Map<string, Entry>();
  /** By the digest of the token. An entry counts only while it is the one in `#keys`. */
  readonly #recognised = new LRUCache<string, Entry>({ max: RECOGNISED_KEYS });
  readonly #problems = new Map<string, UnreadableTenant>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #closing = new AbortController();
  #following: Promise<void> = Promise.resolve();

  private constructor(deps: KeyDirectoryDeps) {
    this.#deps = deps;
  }

  /** Folds every tenant's stream, and follows them from there unless this server is the sole writer. Propagates errors from the event store. */
  static async open(deps: KeyDirectoryDeps): Promise<KeyDirectory> {
    const directory = new KeyDirectory(deps);
    const position = await deps.events.lastPosition();
    let names = noTenants;
    for await (const event of eventsOf(deps.events, tenantsStream, 0)) names = tenantNamesFold.evolve(names, event);
    for (const tenantId of names.tenantIds) {
      for await (const event of eventsOf(deps.events, tenantStream(tenantId), 0)) await directory.#take(event);
    }
    if (deps.events.soleWriter !== true) directory.#following = directory.#follow(position);
    return directory;
  }

  /**
   * The principal of an `Authorization` header, or null. Missing, malformed, unknown, revoked and expired keys cost the same work: one keyed hash and
   * one comparison in constant time. A key that was accepted before costs less. An accepted key is marked as used.
   */
  authenticate(header: string | undefined, now: Date): Principal | null {
    const principal = this.find(bearerToken(header), now);
    if (principal !== null) this.#deps.keyUsage.touch(principal.keyId, now);
    return principal;
  }

  /** The principal of a key at this instant, or null. */
  find(token: string, now: Date): Principal | null {
    const digest = tokenDigest(token);
    const recognised = this.#recognised.get(digest);
    if (recognised !== undefined && this.#keys.get(recognised.key.keyId) === recognised && isLive(recognised.key, now))
      return recognised.principal;
    const entry = this.#keys.get(parseApiKey(token)?.keyId ?? '');
    const matches = matchesHash(this.#deps.hashKey, token, entry?.key.hash ?? decoyHash);
    if (entry === undefined || !matches || !isLive(entry.key, now)) return null;
    this.#recognised.set(digest, entry);
    return entry.principal;
  }

  /** The principal of the key with this id at this instant, or null. */
  live(keyId: string, now: Date): Principal | null {
    const entry = this.#keys.get(keyId);
    return entry !== undefined && isLive(entry.key, now) ? entry.principal : null;
  }

  /** A tenant as far as its stream is known here; `tenantId` is null if it does not exist. */
  tenant(tenantId: string): TenantState {
    return this.#tenants.get(tenantId)?.state ?? initialTenant;
  }

  /** Why none of a tenant's keys is accepted here; null if its stream can be read. */
  problemOf(tenantId: string): UnreadableTenant | null {
    return this.#problems.get(tenantId) ?? null;
  }

  /** Every tenant known here. */
  tenantIds(): readonly string[] {
    return [...this.#tenants.keys()];
  }

  /**
   * Reads the new events of a tenant's stream, so that this server's own writes take effect immediately. Propagates errors from the event store.
   * @throws UnreadableTenant
   */
  async refresh(tenantId: string): Promise<TenantState> {
    const { end } = this.#tenants.get(tenantId) ?? unknown;
    for await (const event of eventsOf(this.#deps.events, tenantStream(tenantId), end.revision + 1))
      await this.#apply(tenantId, event);
    return this.tenant(tenantId);
  }

  /**
   * Calls `listener` once when the key is no longer accepted because it was revoked or has expired, and immediately if that is already the case.
   * Event streams end this way. Returns a function that stops listening.
   */
  onRevoked(keyId: string, listener: () => void): () => void {
    const entry = this.#keys.get(keyId);
    if (entry === undefined || !isLive(entry.key, this.#deps.clock.now())) {
      listener();
      return () => undefined;
    }
    const stop = (): void => {
      cancelTimer();
      const others = this.#listeners.get(keyId);
      others?.delete(ended);
      if (others?.size === 0) this.#listeners.delete(keyId);
    };
    const ended = (): void => {
      stop();
      listener();
    };
    const { expiresAt } = entry.key;
    const cancelTimer = expiresAt === null ? () => undefined : this.#deps.clock.at(new Date(expiresAt), ended);
    const listeners = this.#listeners.get(keyId) ?? new Set();
    this.#listeners.set(keyId, listeners.add(ended));
    return stop;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  /** Known events change nothing: the feed and `refresh` deliver the same ones. @throws UnreadableTenant for an event that was changed */
  async #apply(tenantId: string, recorded: RecordedEvent): Promise<void> {
    const known = this.#tenants.get(tenantId) ?? unknown;
    if (recorded.revision !== known.end.revision + 1) return;
    const { seals, bornSealed } = this.#deps;
    const end = await followSealed(seals, known.end, recorded, () => bornSealed);
    if (end === null) throw new UnreadableTenant(recorded, 'is not what a server recorded');
    // Another read may have been faster.
    if ((this.#tenants.get(tenantId) ?? unknown).end.revision !== known.end.revision) return;
    const event = tenantEvents.decode(recorded);
    const state = evolveTenant(known.state, event, recorded.meta.at);
    this.#tenants.set(tenantId, { end, state });
    if (event.type === 'KeyIssued') this.#index(tenantId, state, event.data.keyId);
    if (event.type === 'KeyChanged' && this.#keys.has(event.data.keyId)) this.#index(tenantId, state, event.data.keyId);
    if (event.type === 'KeyRevoked') this.#revoke(event.data.keyId);
  }

  /** Applies an event of the feed. An unreadable event does not hold up other tenants. */
  async #take(event: RecordedEvent): Promise<void> {
    const tenantId = tenantOf(event.stream);
    if (tenantId === null) return;
    try {
      await this.#apply(tenantId, event);
    } catch (error) {
      this.#close(tenantId, error instanceof UnreadableTenant ? error : unreadable(event, error));
    }
  }

  /**
   * An event that cannot be applied is from a newer server, damaged, or written by somebody else. It may have revoked any of the tenant's keys, so none
   * of them is accepted here.
   */
  #close(tenantId: string, problem: UnreadableTenant): void {
    this.#problems.set(tenantId, problem);
    const own = [...this.#keys].filter(([, { principal }]) => principal.tenant === tenantId);
    for (const [keyId] of own) this.#revoke(keyId);
    this.#deps.onCutOff(problem);
  }

  /** Indexes a key as it is now. */
  #index(tenantId: string, { keys, tier }: TenantState, keyId: string): void {
    const key = keyIn(keys, keyId);
    if (key === undefined) return;
    const rateLimit = effectiveRateLimit(key.rateLimit, this.#deps.tiersActive ? tier : null, this.#deps.rateLimit);
    this.#keys.set(key.keyId, {
      key,
      principal: { tenant: tenantId, keyId: key.keyId, scopes: scopesOf(key), rateLimit },
    });
  }

  #revoke(keyId: string): void {
    this.#keys.delete(keyId);
    for (const ended of [...(this.#listeners.get(keyId) ?? [])]) ended();
  }

  async #follow(position: number): Promise<void> {
    const { signal } = this.#closing;
    const closing = (): boolean => signal.aborted;
    let after = position;
    while (!closing()) {
      try {
        for await (const batch of this.#deps.events.subscribe({ after, prefix: tenantStreamPrefix, signal })) {
          for (const event of batch) {
            await this.#take(event);
            after = event.position;
          }
        }
      } catch (error) {
        if (!closing()) this.#deps.onCutOff(error);
      }
      await pause(this.#deps.clock, FEED_RETRY_MS, signal);
    }
  }
}

const unreadable = (event: RecordedEvent, cause: unknown): UnreadableTenant =>
  new UnreadableTenant(event, 'cannot be read', { cause });

/** Compared in place of the hash of a key that does not exist, so that looking it up takes as long. */
const decoyHash = Buffer.alloc(32).toString('base64url');

/** The token of a bearer header (RFC 6750), `''` if there is none. */
export const bearerToken = (header: string | undefined): string => /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '';

async function* eventsOf(events: EventStore, stream: string, from: number): AsyncGenerator<RecordedEvent> {
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from })) yield* page.events;
}
