import type { MindRequest } from '../../body/mind-request.js';
import { defined } from '../../kernel/base/defined.js';

/** The most items in a page, and in the response to a request that asks for no page. */
const PAGE = 500;
const WHOLE = 10_000;

/** `hasMore`: whether the list continues after this page. */
type ItemPage = { readonly items: readonly unknown[]; readonly hasMore: boolean };

/** Where to find a list. `query`: without cursor and limit; `member`: the member of the response that holds it, unless the response is the list. */
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
    // One request without a limit, because requests count against the rate limit of the key.
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
