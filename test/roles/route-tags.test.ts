import { describe, expect, it } from 'vitest';

import { servedRoutes } from '../../scripts/served-routes.js';
import { openApi } from '../../src/kernel/http/openapi/document.js';
import { routeTags } from '../../src/kernel/http/tags.js';

const routes = servedRoutes();
const { tags } = openApi(routes) as {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};

describe('the tags of routes', () => {
  it.each(routes.map(({ operationId, tag }) => [operationId, tag]))('list the tag of %s: %s', (_, tag) => {
    expect(routeTags.has(tag)).toBe(true);
  });

  it('are all in the document, in order, each with a one-sentence description', () => {
    expect(tags.map(({ name }) => name)).toEqual([...routeTags.keys()]);
    for (const { description } of tags) expect(description).toMatch(/^[A-Z].*\.$/);
  });

  it('begin with NPCs and the turn protocol, and end with the list of additions', () => {
    const names = [...routeTags.keys()];
    expect([names.slice(0, 2), names.at(-1)]).toEqual([['NPCs', 'Protocol'], '(ext)']);
  });
});
