import { readFileSync } from 'node:fs';

import type { Embedder } from '../../src/ports/embedder.js';
import { table } from '../report.js';
import { dot, vectorsOf } from './ranked.js';

/** Twelve memories in one language, each with a question that it answers in other words. The languages say the same. */
type LanguagePairs = {
  readonly language: string;
  readonly pairs: readonly { readonly memory: string; readonly query: string }[];
};

const readLanguages = (): readonly LanguagePairs[] =>
  ['english', 'german', 'russian', 'japanese', 'chinese'].map(
    (name) => JSON.parse(readFileSync(new URL(`pairs-${name}.json`, import.meta.url), 'utf8')) as LanguagePairs,
  );

/** How recall does in each language, as a table in Markdown. */
export const languageReport = async (embedder: Embedder): Promise<string> => {
  const rows: (readonly string[])[] = [];
  for (const { language, pairs } of readLanguages()) {
    const memories = await vectorsOf(
      embedder,
      pairs.map(({ memory }) => memory),
    );
    const queries = await vectorsOf(
      embedder,
      pairs.map(({ query }) => query),
    );
    const scores = queries.map((query) => memories.map((memory) => embedder.score(dot(query, memory))));
    const first = scores.filter((row, at) => row.every((score, place) => place === at || score < (row[at] ?? 0)));
    const right = scores.filter((row, at) => (row[at] ?? 0) >= 0.5);
    const wrong = scores.flatMap((row, at) => row.filter((score, place) => place !== at && score >= 0.5));
    const of = (count: number, all: number): string => `${String(count)} of ${String(all)}`;
    rows.push([
      language,
      of(first.length, pairs.length),
      of(right.length, pairs.length),
      of(wrong.length, pairs.length * (pairs.length - 1)),
    ]);
  }
  return table([['language', 'right one first', 'right one answers', 'wrong ones answer'], ...rows]).join('\n');
};
