import { describe, expect, it } from 'vitest';

import { cardOf, type ExportCardDeps } from '../../../src/features/cards/export-card.js';
import { initialMind, type MindState } from '../../../src/features/npcs/domain/state.js';
import { jsonBytes, type JsonObject } from '../../../src/kernel/base/json.js';
import { memoryRow } from '../../support/recall-scene.js';

/** The memories of a mind without a card, newest first. */
const knowing = (count: number, text: string, more: (at: number) => object = () => ({})): ExportCardDeps => {
  const rows = Array.from({ length: count }, (_, at) => ({
    order: String(count - at),
    row: {
      ...memoryRow(count - at, `${String(count - at)} ${text}`),
      type: 'knowledge',
      metadata: {},
      ...more(count - at),
    },
  }));
  const readModels = {
    reached: () => Promise.resolve(true),
    progress: () => Promise.resolve(count),
    list: (_: unknown, { limit = rows.length }: { limit?: number }) =>
      Promise.resolve({ rows: rows.slice(0, limit), more: false }),
  };
  const events = { read: () => Promise.resolve({ events: [], end: count }) };
  const writers = { current: () => Promise.resolve({ state: initialMind, revision: count }) };
  return { events, readModels, writers } as unknown as ExportCardDeps;
};
const bookOf = async (deps: ExportCardDeps, more: Partial<MindState> = {}): Promise<readonly JsonObject[]> => {
  const mind = { ...initialMind, persona: 'Keeps bees.', ...more };
  const { content } = await cardOf(deps, { tenant: 'studio', npcId: 'bo' }, mind, {});
  const { character_book: book } = content['data'] as { readonly character_book: { readonly entries: never } };
  return book.entries;
};

describe('the book of a generated card', () => {
  it('has the newest 256 memories, oldest first [8.9q]', async () => {
    const entries = await bookOf(knowing(300, 'The gate is old.'));
    expect(entries.map(({ content }) => content)).toEqual(
      Array.from({ length: 256 }, (_, at) => `${String(45 + at)} The gate is old.`),
    );
  });

  it('has nothing that one player told in a turn, unless the mind shares it [8.9q]', async () => {
    const player = { id: 'ann', from: 'body' };
    const deps = knowing(
      3,
      'The gate is old.',
      (at) => [{}, { turnId: 't1', player }, { turnId: null, player }][at - 1] ?? {},
    );
    expect((await bookOf(deps)).map(({ content }) => content)).toEqual(['1 The gate is old.', '3 The gate is old.']);
    expect(await bookOf(deps, { players: 'shared' })).toHaveLength(3);
  });

  it('has at most 256 KiB of memories [8.9q]', async () => {
    const entries = await bookOf(knowing(100, 'x'.repeat(8_000)));
    expect(entries.length).toBeGreaterThan(25);
    expect(jsonBytes(entries.map(({ content = '' }) => content))).toBeLessThanOrEqual(262_144);
    expect(entries.at(-1)?.['content']).toMatch(/^100 /);
  });
});
