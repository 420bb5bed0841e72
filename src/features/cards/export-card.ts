import { type GivenVersion, inVersion } from './domain/card-versions.js';
import { LORE_TYPE } from './domain/lore.js';
import { currentCard, type KnownFact, madeCard, ownVersion } from './domain/mind-card.js';
import { readRecordedCard } from './domain/read-card.js';
import { withoutLore } from './domain/without-lore.js';
import type { MindState } from '../npcs/domain/state.js';
import { firstFitting, jsonBytes, type JsonObject } from '../../kernel/base/json.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import { memories, memoryTag } from '../../../projections/memories.js';
import { isForEverybody } from '../memory/domain/kept-apart.js';
import { visibleMemories, visibleRange } from '../memory/visible-range.js';
import { waitForStream } from '../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { cardAt } from './card-at.js';
import { retractedLore } from './retracted-lore.js';

/** The limits of the book of a made card: memories, and bytes of their JSON. */
const BOOK_MEMORIES = 256;
const BOOK_BYTES = 262_144;

export type ExportCardDeps = {
  readonly events: EventStore;
  readonly readModels: ReadModels;
  readonly writers: StreamWriters;
};

/** The newest memories of a mind that everybody may hear, oldest first. */
const knownOf = async (
  deps: ExportCardDeps,
  stream: string,
  { players }: MindState,
  minimum: number | undefined,
): Promise<readonly KnownFact[]> => {
  await waitForStream(deps, memories, stream, minimum);
  const within = await visibleRange(deps, stream, 'now', await deps.readModels.progress(memories, stream));
  if (within === null) return [];
  const asked = {
    direction: 'descending',
    tags: [memoryTag(LORE_TYPE)],
    limit: BOOK_MEMORIES,
    bytes: 2 * BOOK_BYTES,
  } as const;
  const known: (KnownFact & JsonObject)[] = [];
  for await (const rows of visibleMemories(deps.readModels, stream, within, asked)) {
    const told = players === 'shared' ? rows : rows.filter(isForEverybody);
    known.push(...told.map(({ text, importance, metadata = {} }) => ({ text, importance, metadata })));
    if (known.length >= BOOK_MEMORIES || jsonBytes(known) >= BOOK_BYTES) break;
  }
  return firstFitting(known.slice(0, BOOK_MEMORIES), BOOK_BYTES).toReversed();
};

/** A card, and the version that it is shown in. */
export type ShownCard = { readonly version: GivenVersion; readonly content: JsonObject };

/**
 * A mind as a character card: the imported one with the current persona, or one made from the mind.
 * @param asked the requested version; if absent, that of the imported card, or 3; `original` is the imported card as it came. Lore that was retracted is left out of each. `minimum`: the revision that its memories must include
 * @throws Rejection READ_MODEL_BEHIND; what the event store and the read models throw
 */
export const cardOf = async (
  deps: ExportCardDeps,
  { tenant, npcId }: { readonly tenant: string; readonly npcId: string },
  mind: MindState,
  { asked, minimum }: { readonly asked?: GivenVersion | 'original'; readonly minimum?: number },
): Promise<ShownCard> => {
  const stream = npcStream(tenant, npcId);
  if (mind.card === null) {
    const content = madeCard({ ...mind, npcId }, await knownOf(deps, stream, mind, minimum));
    const made = { version: 3, content } as const;
    return asked === 2 ? { version: 2, content: inVersion(made, 2) } : made;
  }
  const recorded = readRecordedCard((await cardAt(deps.events, stream, mind.card.revision)).content);
  const told = withoutLore(recorded, (await retractedLore(deps.readModels, stream, mind, recorded)).texts);
  if (asked === 'original') return { version: ownVersion(told.version), content: told.content };
  const card = currentCard(told, mind.persona);
  const version = asked ?? ownVersion(card.version);
  return { version, content: inVersion(card, version) };
};
