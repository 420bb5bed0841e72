import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { CustodyLink } from './domain/document.js';

/** How many events after the request of an export are searched for its seal: one or two seconds of work. */
const SEAL_EVENTS = 20_000;

type LinkDeps = { readonly keys: Pick<SigningKeys, 'publicKey'>; readonly events: Pick<EventStore, 'read'> };

/** Whether this server recorded that it sealed the soul of a link. */
const isSealedHere = async (
  { events }: LinkDeps,
  { tenant, npcId, soulId, root, kid }: CustodyLink,
): Promise<boolean> => {
  const from = parseProcessId(soulId)?.revision;
  if (from === undefined) return false;
  const stream = npcStream(tenant, npcId);
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from }, SEAL_EVENTS)) {
    const seal = page.events.find(({ type, data }) => type === 'SoulSealed' && data['soulId'] === soulId);
    if (seal !== undefined) return seal.data['root'] === root && seal.data['kid'] === kid;
  }
  return false;
};

/** Whether each link names a key of this server. */
const ownLinks = ({ keys }: LinkDeps, chain: readonly CustodyLink[]): Promise<readonly boolean[]> =>
  Promise.all(chain.map(async ({ kid }) => (await keys.publicKey(kid)) !== undefined));

/** Whether a chain names a key of this server for a soul that this server did not seal. Propagates errors from the event store. */
export const hasForgedLink = async (deps: LinkDeps, chain: readonly CustodyLink[]): Promise<boolean> => {
  const own = await ownLinks(deps, chain);
  // One that is found ends the search: only a forged one takes long to look for.
  for (const [place, link] of chain.entries())
    if (own[place] === true && !(await isSealedHere(deps, link))) return true;
  return false;
};

/**
 * Marks the links of a mind's chain that this server verified: the last one, whose signature was checked at the import, and those of souls that it
 * sealed. The others are claims of the server that signed the last one. Propagates errors from the event store.
 */
export const withVerified = async (
  deps: LinkDeps,
  chain: readonly CustodyLink[],
): Promise<readonly (CustodyLink & { readonly verified: boolean })[]> => {
  const own = await ownLinks(deps, chain.slice(0, -1));
  const marked: (CustodyLink & { readonly verified: boolean })[] = [];
  for (const [place, link] of chain.entries()) {
    const isLast = place === chain.length - 1;
    marked.push({ ...link, verified: isLast || (own[place] === true && (await isSealedHere(deps, link))) });
  }
  return marked;
};
