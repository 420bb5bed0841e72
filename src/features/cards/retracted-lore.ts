import type { ReadModels } from '../../ports/read-models.js';
import { isStanding, memories, memoryTag, type MemoryRow } from '../../../projections/memories.js';
import { type RetractionRow, retractions } from '../../../projections/retractions.js';
import { tenantOf } from '../../kernel/base/stream-names.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import { requireReached } from '../../kernel/read-models/read-wait.js';
import { defined } from '../../kernel/base/defined.js';
import type { MindState } from '../npcs/domain/state.js';
import { lastMemories } from '../npcs/domain/stored-memories.js';
import { memoryRows } from '../memory/memory-rows.js';
import { visibleMemories } from '../memory/visible-range.js';
import { LORE_TYPE, loreOf } from './domain/lore.js';
import type { CharacterCard } from './domain/read-card.js';

/** How many rows are read at a time, and how many bytes of them. */
const PAGE = { limit: 500, bytes: 262_144 };

/** `texts` of a card that were retracted. `ofCards`: whether any lore was retracted that came from this card or an earlier one. */
export type RetractedLore = { readonly texts: ReadonlySet<string>; readonly ofCards: boolean };

type RetractedLoreDeps = Pick<ReadModels, 'list' | 'reached' | 'getAll'>;

/** The memories of a mind that were retracted, also before a clear, read by read. */
async function* retractedMemories(readModels: RetractedLoreDeps, stream: string): AsyncGenerator<readonly MemoryRow[]> {
  for (let beyond: string | undefined; ;) {
    const of = { partition: tenantOf(stream) ?? '', tags: [stream] };
    const asked = { ...of, direction: 'ascending', ...PAGE, ...defined({ beyond }) } as const;
    const { rows, more } = await readModels.list(retractions, asked);
    const memoryIds = rows.flatMap(({ row }) => (row as unknown as RetractionRow).memoryIds);
    yield [...(await memoryRows(readModels, stream, memoryIds)).values()];
    beyond = rows.at(-1)?.order;
    if (!more || beyond === undefined) return;
  }
}

/**
 * The lore that was retracted from a mind with a card, and that no other memory has: of any type, because an import stores no text that the mind
 * already knows. Other memories are those of the type of lore, and the last ones of any type.
 * @throws Rejection READ_MODEL_BEHIND; what the read models throw
 */
export const retractedLore = async (
  readModels: RetractedLoreDeps,
  stream: string,
  { memories: stored }: Pick<MindState, 'memories'>,
  card: CharacterCard,
): Promise<RetractedLore> => {
  const { retractedAt } = stored;
  if (retractedAt < 0) return { texts: new Set(), ofCards: false };
  await requireReached(readModels, retractions, stream, retractedAt);
  await requireReached(readModels, memories, stream, retractedAt);
  const own = new Set(loreOf(card).memories.map(({ text }) => text));
  const [retracted, ofCards] = [new Set<string>(), new Set<string>()];
  for await (const rows of retractedMemories(readModels, stream)) {
    for (const { text, metadata } of rows) {
      const isOfCard = metadata?.['card'] !== undefined;
      if (isOfCard || own.has(text)) retracted.add(text);
      if (isOfCard) ofCards.add(text);
    }
  }
  const isKnown = new Set(lastMemories(stored).flatMap((memory) => (memory.retracted ? [] : [memory.digest])));
  for (const text of retracted) if (isKnown.has(shortDigest(text))) retracted.delete(text);
  const asked = { direction: 'descending', tags: [memoryTag(LORE_TYPE)], ...PAGE } as const;
  if (retracted.size > 0) {
    // Cleared ones too: what was retracted before a clear stays retracted.
    for await (const rows of visibleMemories(readModels, stream, {}, asked)) {
      for (const row of rows) if (isStanding(row)) retracted.delete(row.text);
      if (retracted.size === 0) break;
    }
  }
  return { texts: retracted, ofCards: [...retracted].some((text) => ofCards.has(text)) };
};
