import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { levelsFolder, readLevelMaps } from '../../../../src/adapters/files/level-maps.js';
import { readBuiltInLevels } from '../../../../src/features/levels/levels.js';
import { effectOf } from '../../../../src/features/rules/domain/ruleset.js';
import { reachable } from './reachable.js';

const builtIn = await readBuiltInLevels(await readLevelMaps());
const maps = await readLevelMaps();
const levelOf = (name: string) => {
  const found = builtIn.find(({ levelId }) => levelId === name);
  if (found === undefined) throw new Error(`no level ${name}`);
  return found.level;
};
const doorsOf = (name: string): readonly string[] => levelOf(name).doors.map(({ id }) => id);
const inReach = (name: string, shut: readonly string[]): readonly string[] => {
  const { goals, items, npcs } = levelOf(name);
  const isInReach = reachable(levelOf(name), shut);
  return [...goals, ...items, ...npcs].filter(({ at }) => isInReach(at)).map(({ id }) => id);
};

describe('the built-in levels', () => {
  it.each(maps)('are maps with everything that Tiled reads: $levelId', ({ map }) => {
    const { layers, tilesets } = map as unknown as {
      layers: readonly { type: string; id: number; objects?: readonly { id: number }[] }[];
      tilesets: readonly { image: string }[];
    };
    expect(map).toMatchObject({
      type: 'map',
      version: '1.10',
      renderorder: 'right-down',
      nextlayerid: layers.length + 1,
    });
    const objects = layers.flatMap((layer) => layer.objects ?? []);
    expect(map).toMatchObject({ nextobjectid: objects.length + 1 });
    for (const list of [layers, objects])
      expect(list.map(({ id }) => id).sort((a, b) => a - b)).toEqual(list.map((_, at) => at + 1));
    const [{ image } = { image: '' }] = tilesets;
    expect(readFileSync(join(levelsFolder, image)).subarray(1, 4).toString()).toBe('PNG');
  });

  it('let a ghost reach everything in the cellar, and the exit only with the key', () => {
    expect(inReach('cellar', doorsOf('cellar'))).toEqual(['key', 'innkeeper']);
    expect(inReach('cellar', [])).toEqual(['stairs', 'key', 'healing potion', 'innkeeper']);
  });

  it('let a ghost reach both goals of the market, each behind its own door', () => {
    const locked = levelOf('market')
      .doors.filter((door) => door.locked)
      .map(({ id }) => id);
    expect(locked).toEqual(['town gate', 'chapel door']);
    expect(inReach('market', locked)).not.toContain('road');
    expect(inReach('market', locked)).not.toContain('chapel');
    expect(inReach('market', ['town gate'])).toContain('chapel');
    expect(inReach('market', ['chapel door'])).toContain('road');
    expect(inReach('market', [...locked, 'office door'])).not.toContain('gate pass');
    expect(inReach('market', [])).toHaveLength(10);
  });

  it('contain in the faulty one the faults that docs/reference/formats/level.md lists', () => {
    const { items, ruleset } = levelOf('faulty');
    expect(inReach('faulty', [])).not.toContain('walled-up room');
    expect(items.find(({ id }) => id === 'only key')).toMatchObject({
      opens: ['left door', 'right door'],
      consumed: true,
    });
    expect(inReach('faulty', ['right door'])).not.toContain('way out');
    expect(inReach('faulty', ['left door'])).toContain('way out');
    expect(items.find(({ id }) => id === 'smooth stone')).toMatchObject({ opens: [], heals: 0 });
    const [directs, forbids, never] = ruleset?.rulesetRules ?? [];
    expect(directs && effectOf(directs)).toMatchObject({ kind: 'direct', type: 'SPEAK' });
    expect(forbids && effectOf(forbids)).toEqual({ kind: 'forbid', types: ['SPEAK'] });
    expect(directs?.ruleObsPattern).toBe(forbids?.ruleObsPattern);
    expect(never?.ruleCondition).toEqual([
      ['hp', '>5'],
      ['hp', '<3'],
    ]);
  });
});
