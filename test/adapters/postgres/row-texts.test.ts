import { DummyDriver, Kysely, PostgresDialect } from 'kysely';
import { describe, expect, it } from 'vitest';

import { memories } from '../../../projections/memories.js';
import { rowsByWords, writeTexts } from '../../../src/adapters/postgres/row-texts.js';
import type { Tables } from '../../../src/adapters/postgres/tables.js';
import { tagWord } from '../../../src/adapters/shared/tag-word.js';
import type { Changes } from '../../../src/ports/read-model-writer.js';

const nobody = (): Promise<never> => Promise.reject(new Error('There is no server.'));

/** A database that keeps nothing, and the statements that it was sent. */
const recording = () => {
  const sent: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const db = new Kysely<Tables>({
    dialect: Object.assign(new PostgresDialect({ pool: nobody }), { createDriver: () => new DummyDriver() }),
    log: ({ query: { sql, parameters } }) => {
      sent.push({ sql: sql.replace(/\s+/g, ' '), parameters });
    },
  });
  return { db, sent };
};

const put = (key: string, words: string, group: string | null): Changes['put'][number] => ({
  key,
  row: {},
  index: { partition: 'p', order: key, tag: '' },
  search: { stream: 's', text: { text: words, words }, group },
});

describe('texts in PostgreSQL', () => {
  it('are stored with their group as one more word, and without an empty one', async () => {
    const { db, sent } = recording();
    const build = { id: 1, name: 'memories', version: 1, position: 0, live: true };
    const texts = [put('1', 'a ruby', 'x'), put('2', '', 'x'), put('3', 'a ruby', null), put('4', '', null)];
    await db.transaction().execute((tx) => writeTexts(tx, build, texts));
    expect(sent.at(-1)?.parameters).toContainEqual([`${tagWord('x')} a ruby`, tagWord('x'), 'a ruby', '']);
  });

  it('are found by words within groups, unless the build is of another version', async () => {
    const { db, sent } = recording();
    const query = { stream: 's', text: 'a ruby', limit: 9 };
    await rowsByWords(db, memories, query);
    await rowsByWords(db, memories, { ...query, groups: ["it's", 'y'] });
    await rowsByWords(db, memories, { ...query, groups: [] });
    const [all, within] = sent;
    expect(sent).toHaveLength(2);
    expect(all?.parameters).toContain("'a' | 'ruby'");
    expect(all?.sql).not.toMatch(/SELECT version/);
    expect(within?.parameters).toEqual(
      expect.arrayContaining(["'a' | 'ruby'", `'${tagWord("it's")}' | '${tagWord('y')}'`]),
    );
    expect(within?.sql).toMatch(
      /words @@ \$\d+::tsquery AND \(words @@ \$\d+::tsquery OR \(SELECT version FROM builds WHERE id = \( SELECT id .* LIMIT 1 \)\) <> \$\d+\) \)/,
    );
  });
});
