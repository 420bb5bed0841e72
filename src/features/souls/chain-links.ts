import { rowKey } from '../../kernel/read-models/row-key.js';
import { requireReached } from '../../kernel/read-models/read-wait.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { souls, type SoulRow } from '../../../projections/souls.js';
import type { CustodyLink } from './domain/document.js';

export type LinkDeps = {
  readonly keys: Pick<SigningKeys, 'publicKey'>;
  readonly events: Pick<EventStore, 'read'>;
  readonly readModels: Pick<ReadModels, 'getAll' | 'reached'>;
};

const streamOf = ({ tenant, npcId }: CustodyLink): string => npcStream(tenant, npcId);
const keyOf = (link: CustodyLink): string => rowKey(streamOf(link), link.soulId);

/** The links whose souls this server recorded that it sealed. All are looked up at once: a chain has at most 64. */
const sealedAmong = async (
  { readModels }: LinkDeps,
  links: readonly CustodyLink[],
): Promise<ReadonlySet<CustodyLink>> => {
  if (links.length === 0) return new Set();
  const rows = (await readModels.getAll(souls, [...new Set(links.map(keyOf))])) as ReadonlyMap<string, unknown>;
  const isSealed = (link: CustodyLink): boolean => {
    const row = rows.get(keyOf(link)) as SoulRow | undefined;
    return row?.root === link.root && row.kid === link.kid;
  };
  return new Set(links.filter(isSealed));
};

/**
 * Which of the links that name a key of this server it sealed itself, and which it did not.
 * @throws Rejection READ_MODEL_BEHIND while the list of sealed souls may lack one of the others; what the event store throws
 */
const ownLinks = async (
  deps: LinkDeps,
  chain: readonly CustodyLink[],
): Promise<{ readonly sealed: ReadonlySet<CustodyLink>; readonly forged: readonly CustodyLink[] }> => {
  const { keys, events, readModels } = deps;
  const ours = await Promise.all(chain.map(async ({ kid }) => (await keys.publicKey(kid)) !== undefined));
  const own = chain.filter((_, place) => ours[place] === true);
  const before = await sealedAmong(deps, own);
  const missing = own.filter((link) => !before.has(link));
  for (const stream of new Set(missing.map(streamOf))) {
    const { lastRevision } = await events.read(stream, { direction: 'backwards', limit: 1 });
    if (lastRevision >= 0) await requireReached(readModels, souls, stream, lastRevision);
  }
  const sealed = new Set([...before, ...(await sealedAmong(deps, missing))]);
  return { sealed, forged: own.filter((link) => !sealed.has(link)) };
};

/** Whether a chain names a key of this server for a soul that this server did not seal. Raises as `ownLinks`. */
export const hasForgedLink = async (deps: LinkDeps, chain: readonly CustodyLink[]): Promise<boolean> =>
  (await ownLinks(deps, chain)).forged.length > 0;

/**
 * Marks the links of a mind's chain that this server verified: the last one, whose signature was checked at the import, and those of souls that it
 * sealed. The others are claims of the server that signed the last one. Raises as `ownLinks`.
 */
export const withVerified = async (
  deps: LinkDeps,
  chain: readonly CustodyLink[],
): Promise<readonly (CustodyLink & { readonly verified: boolean })[]> => {
  const { sealed } = await ownLinks(deps, chain.slice(0, -1));
  return chain.map((link, place) => ({ ...link, verified: place === chain.length - 1 || sealed.has(link) }));
};
