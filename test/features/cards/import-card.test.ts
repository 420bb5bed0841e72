import { describe, expect, it, vi } from 'vitest';

import { takeCard } from '../../../src/features/cards/import-card.js';
import { readCard } from '../../../src/features/cards/domain/read-card.js';
import { jsonBytes, type JsonObject } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { v1Card } from './domain/cards.js';
import { countTurns } from '../../support/loop-turns.js';
import { openMinds, TENANT } from '../../support/minds.js';

const cardOf = (over: JsonObject) => readCard({ ...v1Card, ...over });
const book = (...texts: readonly string[]) => ({ character_book: { entries: texts.map((content) => ({ content })) } });

describe('the import of a card', () => {
  const scene = async () => {
    const { deps } = await openMinds();
    let commands = 0;
    return (over: JsonObject) => {
      const commandId = `command-${String((commands += 1))}`;
      const by = { tenant: TENANT, actor: 'key', commandId, correlationId: commandId, causationId: null };
      return takeCard(deps, npcStream(TENANT, 'mira'), cardOf(over), by);
    };
  };

  it('recognises entries that the mind already knew, but not duplicates within its book [8.9g]', async () => {
    const take = await scene();
    const first = await take(book('It snows.', 'It snows.', 'It rains.'));
    expect(first.lore).toEqual({ entries: 3, stored: 2, known: 0, left: 0, disabled: 0 });
    const again = await take(book('It snows.', 'It snows.', 'It rains.'));
    expect(again.lore).toEqual({ entries: 3, stored: 0, known: 2, left: 0, disabled: 0 });
    const other = await take(book('It snows.', 'It thaws.', 'It thaws.'));
    expect(other.lore).toEqual({ entries: 3, stored: 1, known: 1, left: 0, disabled: 0 });
  });

  it('is one append, or nothing; it may have 524,288 bytes of card and 480 memories [8.9h]', async () => {
    const { deps } = await openMinds();
    const appends = vi.spyOn(deps.events, 'append');
    const by = { tenant: TENANT, actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };
    const take = (npcId: string, over: JsonObject) => takeCard(deps, npcStream(TENANT, npcId), cardOf(over), by);
    const facts = (count: number) => book(...Array.from({ length: count }, (_, at) => `Fact ${String(at)}.`));
    const padded = (bytes: number) => ({ more: 'm'.repeat(bytes - jsonBytes({ ...v1Card, more: '' })) });
    for (const over of [facts(481), padded(524_289)])
      await expect(take('refused', over)).rejects.toMatchObject({ code: 'EVENTS_TOO_LARGE' });
    expect(appends).not.toHaveBeenCalled();
    expect((await take('many', facts(480))).lore).toMatchObject({ stored: 480 });
    expect(appends).toHaveBeenCalledTimes(1);
    expect(await take('large', padded(524_288))).toMatchObject({ created: true });
    expect(appends).toHaveBeenCalledTimes(2);
  });

  it('yields to other work while it handles a large card', async () => {
    const take = await scene();
    const texts = Array.from({ length: 400 }, (_, n) => `${String(n)} ${'a stranger paid in gold '.repeat(40)}`);
    using turns = countTurns();
    await take(book(...texts));
    expect(turns.count).toBeGreaterThan(4);
  });

  it('is refused for macros that would grow too long, in any member, before replacing them', async () => {
    const take = await scene();
    const macros = '<bot>'.repeat(100_000);
    for (const over of [{ description: macros }, { personality: macros }, book(macros)]) {
      await expect(take({ nickname: 'n'.repeat(128), ...over })).rejects.toMatchObject({
        code: 'EVENTS_TOO_LARGE',
        details: { chars: expect.any(Number) as number },
      });
    }
    // The card and its persona are in one event.
    const grown = take({ nickname: 'n'.repeat(128), description: '<bot>'.repeat(4_000), more: 'm'.repeat(400_000) });
    await expect(grown).rejects.toMatchObject({
      code: 'EVENTS_TOO_LARGE',
      details: { limitBytes: 900_000 },
    });
    const disabled = { character_book: { entries: [{ content: macros, enabled: false }] } };
    expect((await take({ nickname: 'n'.repeat(128), ...disabled })).lore).toMatchObject({ left: 1, disabled: 1 });
  });
});
