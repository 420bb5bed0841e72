import { describe, expect, it } from 'vitest';

import type { Json } from '../../../../src/kernel/base/json.js';
import { createPlayerIndex, type Player } from '../../../../src/features/souls/domain/player-index.js';

const names = (players: readonly Player[]) => players.map((player) => player.names.join('/'));
const noted = (...values: Json[]) => {
  const index = createPlayerIndex();
  for (const value of values) index.note(value);
  return index;
};
const spokenOf = (index: ReturnType<typeof noted>, text: string) => names(index.spokenOf(text));

describe('players', () => {
  it.each<[Json, string[]]>([
    [{ player: 'Ann' }, ['Ann']],
    [{ player: { id: 'p1', name: 'Ann' } }, ['p1/Ann']],
    [{ player: { playerId: 7, playerName: 'Ann', hp: 3 } }, ['7/Ann']],
    [{ playerId: 'p1', playerName: 'Ann', place: 'gate' }, ['p1/Ann']],
    [{ playerName: 'Ann' }, ['Ann']],
    [{ playerId: 'p1', playerName: 7 }, ['p1']],
    [{ npcState: { guests: [{ playerId: 'x'.repeat(256) }] } }, ['x'.repeat(256)]],
    [{ playerId: 'p1', player: { id: 'p1', name: 'Ann' } }, ['p1/Ann']],
    [{ players: ['Ann', { id: 'p2' }, null, 3] }, ['Ann', 'p2', '3']],
    [{ scene: [{ deep: { player: 'Ann' } }] }, ['Ann']],
    [{ relationships: { Ann: 0.5, Bo: { trust: 1 } } }, ['Ann', 'Bo']],
    [{ player: null, players: 'Ann', playerId: '', playerName: ' ', speaker: 'Bo' }, []],
    [{ player: { hp: 3 }, playerName: 'x'.repeat(257) }, []],
    [{ relationships: [{ name: 'Lila', trust: 1 }, 'Bo'] }, ['Lila', 'Bo']],
    [['player', 'Ann'], []],
    ['Ann', []],
  ])('are named by specific members: %j [8.10a, 8.10b]', (value, expected) => {
    expect(names(createPlayerIndex().note(value))).toEqual(expected);
  });

  it.each([
    ['Bob', 'Bobが宝石を盗んだ'],
    ['Bob', '玩家Bob偷了项链'],
    ['Weiß', 'HERR WEISS WAS HERE'],
    ['76561198', 'the visitor 76561198 was here'],
    ['Ann', 'annSecret'],
    ['Ann', 'ANNSecret2'],
    ['ann', 'owed_to_Ann17'],
    ['4711', 'room4711'],
    ['McDonald', 'visitMcDonaldAgain'],
    ['Ann17', 'Ann 17'],
    ['Νίκος', 'Ο ΝΙΚΟΣ ΕΦΥΓΕ'],
    ['ΟΔΥΣΣΕΥΣ', 'Ὀδυσσεύς'],
    ['a b c d e f g h i j k l m n', 'said by a b c d e f g h i j k l m n.'],
  ])('are found: %s in %s [8.10k]', (name, text) => {
    expect(spokenOf(noted({ player: name }), text)).toEqual([name]);
  });

  it('have a bounded number of names', () => {
    const called = (count: number) =>
      noted(...Array.from({ length: count }, (_, at) => ({ playerId: 'p', playerName: `n${at}` })));
    expect(() => called(999)).not.toThrow();
    expect(() => called(1_000)).toThrow(expect.objectContaining({ code: 'SOUL_TOO_LARGE' }) as Error);
  });

  it('are limited to 100,000 [8.10h]', () => {
    const named = (count: number) =>
      noted({ players: Array.from({ length: count }, (_, at) => ({ id: `id-${String(at)}` })) });
    expect(() => named(100_000)).not.toThrow();
    expect(() => named(100_001)).toThrow(expect.objectContaining({ code: 'SOUL_TOO_LARGE' }) as Error);
  });

  it('are distinguished by their ids, and recognised by their names', () => {
    const index = noted({ player: 'Ann' });
    expect(names(index.note({ playerId: 'p1', playerName: 'Ann' }))).toEqual(['Ann/p1']);
    expect(names(index.note({ playerId: 'p2', playerName: 'Ann' }))).toEqual(['p2/Ann']);
    expect(names(index.note({ playerId: 'p1', playerName: 'Anna' }))).toEqual(['Ann/p1/Anna']);
    expect(names(index.note({ player: 'p1' }))).toEqual(['Ann/p1/Anna']);
    expect(spokenOf(index, 'Ann came in.')).toEqual(['Ann/p1/Anna', 'p2/Ann']);
    expect(spokenOf(index, 'p2 left.')).toEqual(['p2/Ann']);
  });

  it('are found in a text as complete words, in any case and Unicode form [8.10c]', () => {
    const index = noted({ player: 'Zo\u00eb' }, { player: 'Ann of the Hill' }, { player: 'Li' });
    for (const text of ['ZO\u00cb!', 'Zoe\u0308\u2019s ring', '\u00bbzo\u00eb\u00ab'])
      expect(spokenOf(index, text)).toEqual(['Zo\u00eb']);
    expect(spokenOf(index, 'I saw ann  of\nthe HILL, and Li.')).toEqual(['Ann of the Hill', 'Li']);
    for (const text of ['Zoe', 'Zo\u00ebs', 'Ann of the Valley', 'a list', ''])
      expect(spokenOf(index, text)).toEqual([]);
  });

  it('are found anywhere in scripts without spaces [8.10c]', () => {
    const index = noted({ player: '\u5b89\u5a1c' }, { player: 'Bo' });
    expect(spokenOf(index, '\u6628\u5929\u5b89\u5a1c\u5077\u4e86\u9879\u94fe')).toEqual(['\u5b89\u5a1c']);
  });

  it('are not found in parts that are too short, nor without the accents of other scripts', () => {
    const index = noted({ player: 'p1' }, { player: 'Zoë' });
    for (const text of ['p 1', 'p17', 'annSecret', 'Zoe']) expect(spokenOf(index, text), text).toEqual([]);
  });

  it('are found quickly, whatever the text is', () => {
    const index = noted({ player: 'Ann' });
    const began = performance.now();
    for (const text of ['aB', 'α\u0301', 'x\u0301\u0302', 'A1']) index.spokenOf(text.repeat(4_096));
    index.spokenOf(`α${'\u0301'.repeat(8_192)}`);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('are not matched by names that would be found everywhere [8.10c]', () => {
    const index = noted({ player: 'I' }, { playerId: 12 }, { playerId: 4711 }, { player: '!?' });
    expect(spokenOf(index, 'I paid 12 coins!? 4711')).toEqual(['4711']);
  });

  it('are returned a few at a time, however many have similar names', () => {
    const index = noted({
      players: Array.from({ length: 50_000 }, (_, n) => ({ id: `id-${String(n)}`, name: 'Player' })),
    });
    const text = 'player player player '.repeat(400);
    expect(index.spokenOf(text).length).toBeLessThan(20);
  });
});
