import type { MindRequest } from '../../body/mind-request.js';
import { defined } from '../../kernel/base/defined.js';

/** The most items in a page, and in the response to a request that asks for no page. */
const PAGE = 500;
const WHOLE = 10_000;

/** `hasMore`: whether the list goes on behind this page. */
type ItemPage = { readonly items: readonly unknown[]; readonly hasMore: boolean };

/** Where a list is. `query`: without what pages it; `member`: what holds the list, unless the answer itself is one. */
export type PagedList = {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly member?: string;
};

/** The pages of a list, with at most `limit` items in all. */
export async function* listPages(
  request: MindRequest,
  { path, query, member }: PagedList,
  limit: number,
): AsyncGenerator<ItemPage, void, undefined> {
  let cursor: string | undefined;
  for (let read = 0; read < limit;) {
    // A key may send only so many requests.
    const whole = cursor === undefined && limit >= WHOLE;
    const asked = {
      ...query,
      ...defined({ cursor, limit: whole ? undefined : String(Math.min(PAGE, limit - read)) }),
    };
    const cursors: string[] = [];
    const answer = await request('GET', `${path}?${new URLSearchParams(asked).toString()}`, undefined, {
      onMore: (next) => cursors.push(next),
    });
    const items = (member === undefined ? answer : (answer as Record<string, unknown>)[member]) as readonly unknown[];
    [cursor] = cursors;
    yield { items, hasMore: cursor !== undefined };
    if (cursor === undefined) return;
    read += items.length;
  }
}
