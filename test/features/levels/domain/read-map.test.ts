import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Level } from '../../../../src/features/levels/domain/level.js';
import { readMap } from '../../../../src/features/levels/domain/read-map.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { allSlices } from '../../../support/rules.js';
import { mapObject, objectLayer, roomMap, roomRows, TILE, tiledMap, wallLayer } from './maps.js';

const read = (map: Json) => allSlices(readMap(map, 'inn')).result;
const levelOf = (map: Json): Level => {
  const reading = read(map);
  if ('problems' in reading) throw new Error(JSON.stringify(reading.problems));
  return reading.level;
};
const warningsOf = (map: Json) => {
  const reading = read(map);
  return 'warnings' in reading ? reading.warnings : [];
};
const problemsOf = (map: Json) => {
  const reading = read(map);
  return 'problems' in reading ? reading.problems : [];
};
/** The only problem of a map. */
const problemOf = (map: Json) => {
  const problems = problemsOf(map);
  expect(problems).toHaveLength(1);
  return problems[0];
};
const saying = (text: string): string => expect.stringContaining(text) as string;
const at = (object: string | null, problem: string, layer: string | null = 'things') => ({
  layer,
  object,
  problem: saying(problem),
});
const exit = mapObject('goal', 'exit', [4, 2]);
const rules = (set: Json): Readonly<Record<string, Json>> => ({ rules: JSON.stringify(set) });

describe('a map drawn as a level', () => {
  it('has its walls, its things by class, and their properties', () => {
    const map = roomMap(
      [
        exit,
        mapObject('item', 'key', [2, 1], { opens: 'gate , cellar,gate', consumed: true }),
        mapObject('item', 'bread', [3, 1], { heals: 5 }),
        mapObject('door', 'gate', [4, 1], { locked: true }),
        mapObject('door', 'cellar', [1, 2]),
        mapObject('hazard', 'fire', [2, 2], { harm: 7 }),
        mapObject('npc', 'Mira', [3, 2], { persona: ' Keeps the inn. ', says: 'Hello.\r\n\nBye.\n' }),
        mapObject(
          'trigger',
          'bell',
          [1, 1],
          { text: 'A bell rings.', once: true },
          { width: 3 * TILE, height: 2 * TILE },
        ),
      ],
      {
        properties: [
          { name: 'hp', type: 'int', value: 30 },
          { name: 'persona', type: 'string', value: 'A guest.' },
        ],
      },
    );
    expect(read(map)).toEqual({
      warnings: [],
      level: {
        name: 'inn',
        width: 6,
        height: 4,
        rows: roomRows,
        spawn: { x: 1, y: 1 },
        hp: 30,
        persona: 'A guest.',
        ruleset: null,
        goals: [{ id: 'exit', at: { x: 4, y: 2 } }],
        items: [
          { id: 'key', at: { x: 2, y: 1 }, opens: ['gate', 'cellar'], heals: 0, consumed: true },
          { id: 'bread', at: { x: 3, y: 1 }, opens: [], heals: 5, consumed: false },
        ],
        doors: [
          { id: 'gate', at: { x: 4, y: 1 }, locked: true },
          { id: 'cellar', at: { x: 1, y: 2 }, locked: false },
        ],
        hazards: [{ id: 'fire', at: { x: 2, y: 2 }, harm: 7 }],
        npcs: [{ id: 'Mira', at: { x: 3, y: 2 }, persona: 'Keeps the inn.', ruleset: null, says: ['Hello.', 'Bye.'] }],
        triggers: [{ id: 'bell', from: { x: 1, y: 1 }, to: { x: 3, y: 2 }, text: 'A bell rings.', once: true }],
      },
    });
  });

  it('gets a default name, persona, hit points and names of things', () => {
    const level = levelOf(roomMap([mapObject('hazard', '', [3, 1], {}, { id: 77 })]));
    expect(level).toMatchObject({ name: 'inn', hp: 100, hazards: [{ id: 'hazard-77', harm: 10 }] });
    expect(level.persona).not.toBe('');
    const named = { properties: [{ name: 'name', type: 'string', value: 'The inn' }] };
    expect(levelOf(roomMap([exit], named)).name).toBe('The inn');
  });

  it('may give the class in the form of Tiled 1.9 or of other versions, in any letter case', () => {
    const { type: _, ...classless } = exit;
    for (const object of [
      { ...classless, class: 'goal' },
      { ...classless, type: 'Goal' },
    ])
      expect(levelOf(roomMap([object])).goals).toHaveLength(1);
  });

  it('may have its layers in groups, and any kind of decoration', () => {
    const things = objectLayer('things', [mapObject('spawn', '', [1, 1]), exit]);
    const decor: readonly JsonObject[] = [
      { type: 'imagelayer', name: 'sky', image: 'sky.png' },
      { type: 'tilelayer', name: 'floor', width: 6, height: 4, data: 'eJw=', encoding: 'base64', compression: 'zlib' },
    ];
    const group = {
      type: 'group',
      name: 'outer',
      layers: [{ type: 'group', name: 'inner', layers: [things, ...decor] }],
    };
    const map = tiledMap([group, ...decor, { type: 'group', name: 'walls', layers: [wallLayer(roomRows)] }]);
    expect(levelOf(map)).toMatchObject({ rows: roomRows, goals: [{ id: 'exit' }] });
  });

  it('has walls wherever a layer of walls has a tile, in any orientation', () => {
    const data = Array.from({ length: 24 }, () => 0);
    data[9] = 0x80000000 + 3;
    data[10] = 0xe0000000;
    data[16] = 0xf0000001;
    const layer = { ...wallLayer(roomRows), data };
    expect(levelOf(tiledMap([layer, objectLayer('o', [mapObject('spawn', '', [1, 1])])])).rows).toEqual([
      '......',
      '...#..',
      '....#.',
      '......',
    ]);
    const both = levelOf(tiledMap([wallLayer(roomRows), layer, objectLayer('o', [mapObject('spawn', '', [1, 1])])]));
    expect(both.rows).toEqual(['######', '#..#.#', '#...##', '######']);
  });

  it('may have its tiles in base64', () => {
    const tiles = Buffer.alloc(24 * 4);
    for (const [place, cell] of [...roomRows.join('')].entries())
      tiles.writeUInt32LE(cell === '#' ? 0x80000001 : 0, 4 * place);
    const layer = { ...wallLayer(roomRows), data: tiles.toString('base64'), encoding: 'base64', compression: '' };
    const map = (walls: JsonObject) => tiledMap([walls, objectLayer('o', [mapObject('spawn', '', [1, 1])])]);
    expect(levelOf(map(layer)).rows).toEqual(roomRows);
    const short = { ...layer, data: tiles.subarray(4).toString('base64') };
    expect(problemOf(map(short))).toEqual(at(null, 'not 6 × 4 whole numbers', 'collision'));
  });

  it('has each thing on the tile of its upper left corner, and pictures at their own position', () => {
    const where = (object: JsonObject) => levelOf(roomMap([object])).goals[0]?.at;
    const goal = (members: JsonObject) => mapObject('goal', 'exit', [0, 0], {}, members);
    expect(where(goal({ point: true, x: 47.9, y: 16, width: 0, height: 0 }))).toEqual({ x: 2, y: 1 });
    expect(where(goal({ x: 48, y: 47.5 }))).toEqual({ x: 3, y: 2 });
    // Tiled gives the lower left corner of a tile object.
    expect(where(goal({ gid: 1, x: 48, y: 32 }))).toEqual({ x: 3, y: 1 });
    expect(where(goal({ gid: 0x80000001, x: 48, y: 48, height: 40 }))).toEqual({ x: 3, y: 2 });
    expect(where(goal({ gid: 1, x: 48, y: 24, height: 8 }))).toEqual({ x: 3, y: 1 });
    const centred = { tilesets: [{ firstgid: 1, name: 't', objectalignment: 'center' }] };
    expect(levelOf(roomMap([goal({ gid: 1, x: 56, y: 24 })], centred)).goals[0]?.at).toEqual({ x: 3, y: 1 });
  });

  it('gives a picture the class and properties of its tile by default', () => {
    const tile = { id: 2, type: 'hazard', properties: [{ name: 'harm', type: 'int', value: 3 }] };
    const map = (properties: Readonly<Record<string, Json>>) =>
      roomMap([mapObject('', 'pit', [3, 1], properties, { gid: 12, y: 2 * TILE })], {
        tilesets: [
          { firstgid: 1, source: 'other.tsx' },
          { firstgid: 10, name: 'mine', tiles: [tile] },
        ],
      });
    expect(levelOf(map({})).hazards).toEqual([{ id: 'pit', at: { x: 3, y: 1 }, harm: 3 }]);
    expect(levelOf(map({ harm: 9 })).hazards).toMatchObject([{ harm: 9 }]);
  });

  it('has rules of grammar 1 unless they name another, and grammar 2 is strict [5.5c, 5.5d]', () => {
    const rule = { ruleCondition: [['hp', '≥5']], ruleAction: 'FLEE' };
    const withRules = (set: Json) => roomMap([exit, mapObject('npc', 'Mira', [3, 1], rules(set))]);
    const lenient = withRules({ rulesetRules: [rule] });
    expect(levelOf(lenient).npcs[0]?.ruleset).not.toHaveProperty('grammar');
    expect(warningsOf(lenient)).toEqual([at('Mira', 'Perhaps >=5 was meant')]);
    expect(problemOf(withRules({ grammar: 2, rulesetRules: [rule] }))).toEqual(at('Mira', 'Perhaps >=5 was meant'));
    expect(problemOf(withRules({ grammar: 2, rulesetRules: [{ condition: [] }] }))).toEqual(
      at('Mira', 'ruleCondition'),
    );
    expect(problemOf(withRules({ grammar: 3, rulesetRules: [] }))).toEqual(at('Mira', 'grammar must be 1 or 2'));
    const strict = withRules({ grammar: 2, rulesetRules: [{ ...rule, ruleCondition: [['hp', '>=5']] }] });
    expect(levelOf(strict).npcs[0]?.ruleset).toMatchObject({ grammar: 2 });
  });

  it('may contain rules for its ghost and its NPCs, in the format of POST /rules', () => {
    const set = {
      rulesetRules: [{ ruleAction: 'FORBID ATTACK', ruleObsPattern: '\\binn\\b', ruleCondition: [['hp', 3]] }],
    };
    const level = levelOf(
      roomMap([exit, mapObject('npc', 'Mira', [3, 1], rules({ ...set, rulesetId: 'peace', template: 'ChatML' }))], {
        properties: [{ name: 'rules', type: 'string', value: JSON.stringify(set) }],
      }),
    );
    expect(level.ruleset).toMatchObject({
      rulesetId: 'ghost',
      version: 1,
      template: null,
      rulesetRules: [{ drRuleId: 'rule-1', ruleAction: 'FORBID ATTACK', ruleCondition: [['hp', '3']] }],
    });
    expect(level.npcs[0]?.ruleset).toMatchObject({ rulesetId: 'peace', template: 'ChatML' });
  });

  it('gets a warning for a likely mistake that can still be played [9.7c]', () => {
    const map = roomMap([
      mapObject('item', 'stone', [2, 1]),
      mapObject('door', 'gate', [3, 1], { locked: true }),
      mapObject('portal', 'way', [4, 1]),
      mapObject('', 'bush', [1, 2]),
      mapObject('hazard', 'fire', [2, 2], {}, { width: 2 * TILE }),
      mapObject(
        'npc',
        'Mira',
        [4, 2],
        rules({ rulesetRules: [{ drRuleId: 'r', ruleAction: 'attack', ruleObsPattern: 'x' }] }),
      ),
    ]);
    expect(warningsOf(map)).toEqual(
      expect.arrayContaining([
        at('stone', 'has no use'),
        at('gate', 'no item opens it'),
        at('way', 'class "portal"'),
        at('bush', 'no class'),
        at('fire', 'several tiles'),
        at('Mira', 'Rule r: ruleAction is not an action type'),
        at(null, 'no goal', null),
      ]),
    );
    expect(warningsOf(map)).toHaveLength(7);
    expect(warningsOf(tiledMap([objectLayer('o', [mapObject('spawn', '', [1, 1]), exit])]))).toEqual([
      at(null, 'no tile layer named "collision"', null),
    ]);
  });
});

describe('a map that is not a level', () => {
  it.each<[string, Json, string]>([
    ['nothing', null, 'not a Tiled map'],
    ['a tileset', { ...tiledMap([]), type: 'tileset' }, 'not a Tiled map'],
    ['infinite', roomMap([], { infinite: true }), 'infinite'],
    ['isometric', roomMap([], { orientation: 'isometric' }), '"isometric"'],
    ['too wide', roomMap([], { width: 257 }), '1 to 256 tiles'],
    ['too high', roomMap([], { height: 257 }), '1 to 256 tiles'],
    ['without a size', roomMap([], { height: 0.5 }), '1 to 256 tiles'],
    ['of tiles without a size', roomMap([], { tilewidth: 0 }), 'pixels'],
  ])('is refused entirely: %s [9.7e]', (_, map, problem) => {
    expect(problemOf(map)).toEqual(at(null, problem, null));
  });

  it.each<[string, JsonObject, string, string]>([
    ['a second spawn', mapObject('spawn', 'b', [2, 1]), 'b', 'second object of the class "spawn"'],
    ['in a wall', mapObject('goal', 'x', [0, 2]), 'x', 'inside a wall at column 0 and row 2'],
    ['outside', mapObject('item', 'x', [6, 1], { heals: 1 }), 'x', 'outside the map'],
    ['above the map', mapObject('item', 'x', [1, -1], { heals: 1 }), 'x', 'outside the map'],
    ['partly outside', mapObject('trigger', 'x', [4, 1], {}, { width: 3 * TILE }), 'x', 'outside the map'],
    ['a duplicate name', mapObject('trigger', 'exit', [1, 1]), 'exit', 'also named "exit"'],
    ['a name with a comma', mapObject('door', 'a,b', [2, 1]), 'a,b', 'Rename the object'],
    ['opens nothing', mapObject('item', 'x', [2, 1], { opens: 'gat' }), 'x', '"gat", but no door'],
    ['heals by a text', mapObject('item', 'x', [2, 1], { heals: '5' }), 'x', 'whole number'],
    ['harms by a negative number', mapObject('hazard', 'x', [2, 1], { harm: -1 }), 'x', 'whole number'],
    ['locked by a text', mapObject('door', 'x', [2, 1], { locked: 'yes' }), 'x', 'true or false'],
    ['a persona that is a number', mapObject('npc', 'x', [2, 1], { persona: 3 }), 'x', 'must be a string'],
    ['a long text', mapObject('trigger', 'x', [2, 1], { text: 'x'.repeat(1_001) }), 'x', '1000 characters'],
    ['turned', mapObject('door', 'x', [2, 1], {}, { rotation: 90 }), 'x', 'rotation'],
    ['a polygon', mapObject('trigger', 'x', [2, 1], {}, { polygon: [{ x: 0, y: 0 }] }), 'x', 'point or a rectangle'],
    ['an ellipse', mapObject('trigger', 'x', [2, 1], {}, { ellipse: true }), 'x', 'point or a rectangle'],
    ['of a template', mapObject('door', 'x', [2, 1], {}, { template: 'door.tx' }), 'x', 'Detach'],
    ['rules that are not JSON', mapObject('npc', 'x', [2, 1], { rules: '{' }), 'x', 'cannot be read'],
    ['rules that are not a set', mapObject('npc', 'x', [2, 1], rules({})), 'x', 'rulesetRules must be a list'],
    [
      'an invalid rule',
      mapObject('npc', 'x', [2, 1], rules({ rulesetRules: [{ ruleAction: 3 }] })),
      'x',
      'rule 1: ruleAction',
    ],
    [
      'conditions of one part',
      mapObject('npc', 'x', [2, 1], rules({ rulesetRules: [{ ruleCondition: [['hp']] }] })),
      'x',
      'pairs',
    ],
    [
      'a pattern for another engine',
      mapObject('npc', 'x', [2, 1], rules({ rulesetRules: [{ ruleObsPattern: '(?=a)' }] })),
      'x',
      'The pattern of rule rule-1',
    ],
    [
      'two rules with one id',
      mapObject('npc', 'x', [2, 1], rules({ rulesetRules: [{ drRuleId: 'a' }, { drRuleId: 'a' }] })),
      'x',
      'same drRuleId',
    ],
    [
      'half a character',
      mapObject('npc', 'x', [2, 1], { rules: '{"rulesetRules":[{"ruleReason":"\\ud800"}]}' }),
      'x',
      'half a surrogate pair',
    ],
    [
      'a rule with a duplicate member',
      mapObject('npc', 'x', [2, 1], { rules: '{"id":"a","id":"b"}' }),
      'x',
      'two members named "id"',
    ],
  ])('is refused with layer and object: %s', (_, object, name, problem) => {
    expect(problemOf(roomMap([exit, object]))).toEqual(at(name, problem));
  });

  it('is still the level it was accepted as, whatever is refused now', () => {
    for (const rules of ['{"rulesetRules":[],"note":76561198140718655}', '{"rulesetRules":[],"rulesetRules":[]}']) {
      const map = roomMap([exit, mapObject('npc', 'x', [2, 1], { rules })]);
      expect(allSlices(readMap(map, 'kept')).result).toHaveProperty('problems');
      expect(allSlices(readMap(map, 'kept', true)).result).toHaveProperty('level');
    }
  });

  it('is refused without a spawn, and for unreadable layers', () => {
    const spawn = objectLayer('o', [mapObject('spawn', '', [1, 1])]);
    expect(problemOf(tiledMap([wallLayer(roomRows)]))).toEqual(at(null, 'no object of the class "spawn"', null));
    for (const [members, problem] of [
      [{ compression: 'zlib', encoding: 'base64', data: 'eJw=' }, 'Tile Layer Format to CSV'],
      [{ encoding: 'csv', data: '1,2' }, 'unknown encoding'],
      [{ width: 5 }, '6 × 4 tiles'],
      [{ data: [1, 2] }, '6 × 4 tiles'],
      [{ data: Array.from({ length: 24 }, () => -1) }, '6 × 4 tiles'],
      [{ offsetx: 8 }, 'offset'],
    ] as const) {
      const walls = { ...wallLayer(roomRows), ...members } as JsonObject;
      expect(problemOf(tiledMap([walls, spawn]))).toEqual(at(null, problem, 'collision'));
    }
    const shifted = { type: 'group', name: 'g', offsety: 16, layers: [objectLayer('o', [exit])] };
    expect(problemOf(tiledMap([wallLayer(roomRows), spawn, shifted]))).toEqual(at('exit', 'offset', 'o'));
  });

  it('gets no further problems for a malformed object, and its unnamed objects are identified by class and number [9.7c]', () => {
    const inside = [
      mapObject('spawn', '', [1, 1], {}, { id: 5 }),
      mapObject('item', '', [9, 9], { opens: 'gate' }, { id: 6 }),
      mapObject('door', 'gate', [2, 1], { locked: true }),
    ];
    const shifted = objectLayer('things', inside, { offsetx: 3 });
    expect(problemsOf(tiledMap([wallLayer(roomRows), shifted]))).toEqual(
      ['spawn-5', 'item-6', 'gate'].map((object) => at(object, 'offset')),
    );
    const nobody = mapObject('', '', [2, 1], {}, { id: 7 });
    expect(warningsOf(roomMap([exit, nobody]))).toEqual([at('object-7', 'no class')]);
  });

  it('is refused beyond the bounds, before the work is done [9.7e]', () => {
    const many = (count: number, type: string) =>
      Array.from({ length: count }, (_, index) => mapObject(type, `${type} ${String(index)}`, [2, 1]));
    expect(problemOf(roomMap(many(1_000, 'hazard')))).toEqual(at(null, '1001 objects', null));
    expect(problemOf(roomMap([exit, ...many(33, 'npc')]))).toEqual(at(null, '33 NPCs', null));
    const layers = Array.from({ length: 1_001 }, () => ({ type: 'tilelayer', name: 'x' }));
    expect(problemOf(tiledMap(layers))).toEqual(at(null, '1000 layers', null));
    const groups = Array.from({ length: 30 }).reduce<JsonObject>(
      (inside) => ({ type: 'group', name: 'g', layers: Array.from({ length: 40 }, () => inside) }),
      { type: 'group', name: 'g', layers: [] },
    );
    expect(problemOf(tiledMap([groups]))).toEqual(at(null, '1000 layers', null));
    const tilesets = Array.from({ length: 257 }, (_, index) => ({ firstgid: index + 1 }));
    expect(problemOf(roomMap([exit], { tilesets }))).toEqual(at(null, '256 tilesets', null));
  });

  it('costs no more when a thousand objects inherit from one tile', () => {
    const properties = Array.from({ length: 20_000 }, (_, index) => ({ name: `p${String(index)}`, value: 1 }));
    const rulesOfTile = { name: 'rules', value: JSON.stringify({ rulesetRules: [], more: 'x'.repeat(120_000) }) };
    let reads = 0;
    const tile = {
      ...{ id: 0, type: 'npc' },
      get properties() {
        reads += 1;
        return [...properties, rulesOfTile];
      },
    };
    const tilesets = [{ firstgid: 1, tiles: [tile] }];
    const people = Array.from({ length: 999 }, () => mapObject('', '', [2, 1], {}, { gid: 1, y: 2 * TILE }));
    expect(problemsOf(roomMap(people, { tilesets }))).toContainEqual(at(null, '999 NPCs', null));
    expect(levelOf(roomMap(people.slice(0, 32), { tilesets })).npcs).toHaveLength(32);
    expect(reads).toBe(2);
  });

  it('gets at most 50 problems and 50 warnings, with truncated names [9.7d]', () => {
    const name = 'x'.repeat(5_000);
    const broken = Array.from({ length: 60 }, () => mapObject('door', name, [0, 0], {}, { rotation: 1 }));
    const problems = problemsOf(roomMap(broken));
    expect(problems).toHaveLength(50);
    expect(JSON.stringify(problems).length).toBeLessThan(20_000);
    const bushes = Array.from({ length: 60 }, (_, index) => mapObject('', `bush ${String(index)}`, [2, 1]));
    expect(warningsOf(roomMap([exit, ...bushes]))).toHaveLength(50);
  });

  it('is read to the end, whatever JSON it is', () => {
    const names = [
      'type',
      'layers',
      'objects',
      'data',
      'width',
      'height',
      'properties',
      'tilesets',
      'x',
      'gid',
      'name',
    ];
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    const changed = fc.tuple(fc.constantFrom(...names), json, fc.constantFrom('map', 'walls', 'things', 'object'));
    fc.assert(
      fc.property(changed, ([name, value, where]) => {
        const object = where === 'object' ? { ...exit, [name]: value } : exit;
        const things = objectLayer('things', [mapObject('spawn', '', [1, 1]), object]);
        const walls = wallLayer(roomRows);
        const layers = [
          where === 'walls' ? { ...walls, [name]: value } : walls,
          where === 'things' ? { ...things, [name]: value } : things,
        ];
        const reading = read({ ...tiledMap(layers), ...(where === 'map' ? { [name]: value } : {}) });
        expect('level' in reading || reading.problems.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('maps from Tiled examples', () => {
  const fixture = (name: string): JsonObject =>
    JSON.parse(readFileSync(new URL(`../../../fixtures/tiled/${name}.json`, import.meta.url), 'utf8')) as JsonObject;
  const renamed = (map: JsonObject, from: string, members: JsonObject): JsonObject => ({
    ...map,
    layers: (map['layers'] as readonly JsonObject[]).map((layer) =>
      layer['name'] === from ? { ...layer, ...members } : layer,
    ),
  });

  it('lack only a spawn, and become levels with only names and classes added', () => {
    const map = fixture('map_with_ladders');
    expect(problemsOf(map)).toEqual([at(null, 'no object of the class "spawn"', null)]);
    const [enemies] = (map['layers'] as readonly JsonObject[]).filter(({ name }) => name === 'Enemies');
    const [first, ...others] = enemies?.['objects'] as readonly JsonObject[];
    const things = [{ ...first, type: 'spawn' }, ...others.map((enemy) => ({ ...enemy, type: 'hazard' }))];
    const level = levelOf(renamed(renamed(map, 'Platforms', { name: 'collision' }), 'Enemies', { objects: things }));
    expect(level).toMatchObject({
      width: 20,
      height: 17,
      spawn: { x: 4, y: 9 },
      hazards: [{ at: { x: 12, y: 15 } }, {}],
    });
    expect(level.rows[16]).toBe('#'.repeat(20));
    expect(level.rows[7]).toBe('.........#######....');
  });

  it('are refused with the format to choose if their tiles are compressed', () => {
    const problems = problemsOf(renamed(fixture('test_map_7'), 'Platforms', { name: 'collision' }));
    expect(problems).toContainEqual(
      at(null, 'compressed ("zlib"). Set Map > Map Properties > Tile Layer Format', 'collision'),
    );
  });

  it('may contain objects of every shape, which are ignored', () => {
    expect(problemsOf(fixture('test_objects'))).toEqual([at(null, 'no object of the class "spawn"', null)]);
  });
});
