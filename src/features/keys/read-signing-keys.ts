import { isBornSealed } from './make-signing-key.js';
import { signingKeyFold } from './signing-key-fold.js';
import type { SigningKeyState } from './domain/signing-key-state.js';
import { signingKeysStream } from '../../kernel/base/stream-names.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import { chainBroken, isChanged } from '../../kernel/streams/event-checks.js';
import { GENESIS_HASH } from '../../kernel/streams/hash-chain.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/** The signing keys as far as their stream was read. `sealed`: an event has a seal, so none after it lacks one. */
export type ReadKeys = {
  readonly state: SigningKeyState;
  readonly revision: number;
  readonly hash: string;
  readonly sealed: boolean;
};

/** Nothing was read. */
export const nothingRead: ReadKeys = {
  state: signingKeyFold.initial,
  revision: -1,
  hash: GENESIS_HASH,
  sealed: false,
};

/** The keys after one more event of their stream. @throws Rejection CHAIN_BROKEN for an event that no server with this secret recorded */
const readEvent = async (seals: Seals, before: ReadKeys, event: RecordedEvent): Promise<ReadKeys> => {
  const { hash, prevHash, mac } = event.meta;
  const follows = event.revision === before.revision + 1 && prevHash === before.hash;
  const state = follows ? signingKeyFold.evolve(before.state, event) : before.state;
  const mayLackSeal = !before.sealed && !isBornSealed(seals, state);
  if (!follows || (await isChanged(seals, event, mayLackSeal))) throw chainBroken(signingKeysStream, event.revision);
  return { state, revision: event.revision, hash, sealed: before.sealed || mac !== undefined };
};

/**
 * Reads what is new in the stream of signing keys. Whoever can write to the store decides nothing by it: each event must have been recorded by a server.
 * @throws Rejection CHAIN_BROKEN; what the event store throws
 */
export const readSigningKeys = async (
  { events, seals }: { readonly events: Pick<EventStore, 'read'>; readonly seals: Seals },
  before: ReadKeys,
): Promise<ReadKeys> => {
  let read = before;
  for await (const page of pagesOf(events, signingKeysStream, { direction: 'forwards', from: before.revision + 1 }))
    for (const event of page.events) read = await readEvent(seals, read, event);
  return read;
};
