import { isBornSealed } from './make-signing-key.js';
import { signingKeyFold } from './signing-key-fold.js';
import type { SigningKeyState } from './domain/signing-key-state.js';
import { signingKeysStream } from '../../kernel/base/stream-names.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import { chainBroken } from '../../kernel/streams/event-checks.js';
import { followSealed, nothingFollowed, type SealedEnd } from '../../kernel/streams/follow-sealed.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/** The signing keys as far as their stream was read. */
export type ReadKeys = SealedEnd & { readonly state: SigningKeyState };

/** Nothing was read. */
export const nothingRead: ReadKeys = { ...nothingFollowed, state: signingKeyFold.initial };

/** The keys after one more event of their stream. @throws Rejection CHAIN_BROKEN for an event that no server with this secret recorded */
const readEvent = async (seals: Seals, before: ReadKeys, event: RecordedEvent): Promise<ReadKeys> => {
  const after = (): SigningKeyState => signingKeyFold.evolve(before.state, event);
  const end = await followSealed(seals, before, event, () => isBornSealed(seals, after()));
  if (end === null) throw chainBroken(signingKeysStream, event.revision);
  return { ...end, state: after() };
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
