import { describe, expect, it } from 'vitest';

import { type Path, readPath, rootProblem } from '../../../../../src/features/rules/domain/conditions/path.js';

describe('a path', () => {
  it.each<[key: string, path: Path]>([
    ['hp', { root: 'state', names: ['hp'] }],
    ['position.x', { root: 'state', names: ['position', 'x'] }],
    ['state.hp', { root: 'state', names: ['hp'] }],
    ['state.action', { root: 'state', names: ['action'] }],
    ['context.hour', { root: 'context', names: ['hour'] }],
    ['facts.quest.done', { root: 'facts', names: ['quest', 'done'] }],
    ['player.id', { root: 'context', names: ['player', 'id'] }],
    ['action.payload.price', { root: 'action', names: ['payload', 'price'] }],
    ['delta.gold', { root: 'delta', names: ['gold'] }],
    ['after.gold', { root: 'after', names: ['gold'] }],
    ['observation', { root: 'observation', names: [] }],
    ['context', { root: 'context', names: [] }],
    ['bag.0.id', { root: 'state', names: ['bag', '0', 'id'] }],
    ['playerStats.hp', { root: 'state', names: ['playerStats', 'hp'] }],
    ['quest done', { root: 'state', names: ['quest done'] }],
  ])('begins at a root, or with a member of the state: %s [5.5g]', (key, path) => {
    expect(readPath(key)).toEqual(path);
  });

  it.each<[key: string, listNames: number, names: number]>([
    ['bag[x].id', 1, 2],
    ['state.bag[x].id', 1, 2],
    ['context.shop.bag[a].item.id', 2, 4],
    ['player.bag[z].id', 2, 3],
    ['bag[x]', 1, 1],
  ])('has a letter for the elements of a list: %s [5.5j]', (key, listNames, names) => {
    const path = readPath(key) as Path;
    expect([path.letter?.listNames, path.names.length]).toEqual([listNames, names]);
  });

  it.each<[key: string, meant: string | undefined]>([
    ['cel', undefined],
    ['cel.x', undefined],
    ['npcState.hp', 'state.hp'],
    ['action.tpye', 'action.type'],
    ['action.Target', 'action.target'],
  ])('is refused if its root is reserved, or its member of an action misspelt: %s [5.5h]', (key, meant) => {
    const { message, ...rest } = readPath(key) as { message: string; meant?: string };
    expect(message).not.toBe('');
    expect(rest).toEqual(meant === undefined ? {} : { meant });
  });

  it.each<[key: string, meant: string]>([
    ['Context.hour', 'context.hour'],
    ['Context', 'context'],
    ['contxt.hour', 'context.hour'],
    ['contest.hour', 'context.hour'],
    ['playr.id', 'player.id'],
    ['fact.done', 'facts.done'],
    ['facs.done', 'facts.done'],
    ['fcts.done', 'facts.done'],
    ['factss.done', 'facts.done'],
    ['fatcs.done', 'facts.done'],
    ['stat.hp', 'state.hp'],
    ['states.bag[x].id', 'state.bag[x].id'],
    ['delt.gold', 'delta.gold'],
    ['aftr.gold', 'after.gold'],
    ['atfer.gold', 'after.gold'],
    ['af-ter.gold', 'after.gold'],
    ['actoin.type', 'action.type'],
    ['observtion', 'observation'],
    ['obsevration', 'observation'],
    ['npcstate.hp', 'state.hp'],
    ['npc_state', 'state'],
    ['npcStat.hp', 'state.hp'],
  ])('has a first name that is no misspelt root: not %s [5.5h]', (key, meant) => {
    const [first = ''] = key.split('.');
    expect(rootProblem(key, () => false)).toEqual({ message: expect.stringContaining(first) as string, meant });
    expect(rootProblem(key, (name) => name === first)).toBeNull();
    expect(rootProblem(`state.${key}`, () => false)).toBeNull();
    expect(readPath(key)).toHaveProperty('root', 'state');
  });

  it.each([
    ...[
      'stats.hp',
      'stage.x',
      'contact.hour',
      'alter.ego',
      'facet.x',
      'playerStats.hp',
      'conservation',
      'reservation',
      'stat',
      'fact',
    ],
    ...['faction.rank', 'auction.owner', 'estate.owner', 'players.count', 'prayer.x', 'slayer.x', 'layer.z'],
    ...['npcStats.hp', 'npcStatus.mood'],
    ...['deltas', 'rafters', 'hp', 'constructor.x', '__proto__.x', '-', `${'a'.repeat(500)}.x`],
  ])('may begin with a member of the state that resembles no root: %s [5.5h]', (key) => {
    expect(rootProblem(key, () => false)).toBeNull();
  });

  it.each<[key: string, meant: string | undefined]>([
    ['bag[0]', 'bag.0'],
    ['bag[0].id', 'bag.0.id'],
    ['bag[X].id', 'bag[x].id'],
    ['bag[].id', 'bag.id'],
    ['bag[xy].id', 'bag.id'],
    ['[x].id', undefined],
    ['bag[x].items[y]', undefined],
    ['state[x].id', 'state.id'],
    ['', undefined],
    ['a..b', undefined],
    ['.a', undefined],
    ['a.', undefined],
    [' hp', 'hp'],
    ['observation.text', 'observation'],
  ])('is refused if a name cannot be read: %s [5.5j, 5.5p]', (key, meant) => {
    const { message, ...rest } = readPath(key) as { message: string; meant?: string };
    expect(message).not.toBe('');
    expect(rest).toEqual(meant === undefined ? {} : { meant });
  });
});
