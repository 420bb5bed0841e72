import { memories } from '../../../projections/memories.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { EMBED_TEXTS } from '../../ports/embedder.js';
import type { OrderRange } from '../../ports/read-models.js';
import type { RowText } from '../../ports/row-search.js';
import { embedTexts, type EmbeddingDeps } from './embed-lacking.js';

/** The longest time that a recall spends embedding texts of its mind, in milliseconds; a recall answers within 2 s if possible. */
export const RECALL_EMBED_MS = 1_200;
/**
 * Texts are embedded in groups, and finished groups are kept when the time is up. The newest text is a group by itself; each later group may be twice
 * as large, up to this many texts, and this many bytes of UTF-8 if there are several. Longer texts come last: one of them may take all the time, and
 * the next recall continues with it.
 */
const GROUP_TEXTS = 16;
const GROUP_BYTES = 4_096;

/** The refusals of an embedder that is unavailable or overloaded. */
const REFUSALS: readonly string[] = ['EMBEDDER_UNAVAILABLE', 'BUSY'];

/** A mind, and the range that the recall may see: the rest is not needed. */
export type SeenTexts = { readonly stream: string; readonly within: OrderRange };

/**
 * Embeds the missing texts of a mind for a waiting recall: at most EMBED_TEXTS texts, group by group, until `signal` aborts or the embedder refuses.
 * Texts that still have no vector are left to others.
 * @returns whether a text lacked a vector at the start
 * @throws what the read models throw
 */
export const embedForRecall = async (deps: EmbeddingDeps, seen: SeenTexts, signal: AbortSignal): Promise<boolean> => {
  const { rowSearch, embedder } = deps;
  const texts = await rowSearch.withoutVector(memories, { embedder: embedder.id, ...seen, limit: EMBED_TEXTS });
  for (const group of groupsOf(texts)) {
    try {
      await embedTexts(deps, group, { urgent: true, signal });
    } catch (error) {
      if (signal.aborted || (error instanceof Rejection && REFUSALS.includes(error.code))) break;
      throw error;
    }
  }
  return texts.length > 0;
};

function* groupsOf(texts: readonly RowText[]): Generator<readonly RowText[], void, undefined> {
  let group: RowText[] = [];
  let [bytes, most] = [0, 1];
  const sized = texts.map((row) => ({ row, size: Buffer.byteLength(row.text) }));
  const isLong = ({ size }: { readonly size: number }): boolean => size > GROUP_BYTES;
  for (const { row, size } of [...sized.filter((each) => !isLong(each)), ...sized.filter(isLong)]) {
    if (group.length === most || (group.length > 0 && bytes + size > GROUP_BYTES)) {
      yield group;
      [group, bytes, most] = [[], 0, Math.min(GROUP_TEXTS, 2 * most)];
    }
    group.push(row);
    bytes += size;
  }
  if (group.length > 0) yield group;
}
