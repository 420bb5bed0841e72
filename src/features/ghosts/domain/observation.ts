import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { cutText } from '../../../kernel/base/text.js';
import { DIRECTIONS, isOnMap, numberOfTile, type Placed } from './chart.js';
import { entitiesOf, isDown, isEnterable, shortId, thingsInSight, type World } from './world.js';

/** The limit of an observation, in UTF-16 units; rules' patterns see all of it. */
export const OBSERVATION_CHARS = 1_500;
/** How much of it may describe the last step, in UTF-16 units. */
const NEWS_CHARS = 600;
/** How many objects of each list an observation names. */
const NAMED = 12;

const listed = (names: readonly string[], none: string): string =>
  names.length === 0 ? none : `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ' and more' : ''}`;

const waysOut = (level: Level, world: World): readonly string[] =>
  DIRECTIONS.flatMap((way) => {
    const next = { x: world.at.x + way.x, y: world.at.y + way.y };
    return isOnMap(level, next) && isEnterable(level, world, numberOfTile(level, next)) ? [way.word] : [];
  });

const describe = (world: World, { kind, position, id, at }: Placed): string => {
  const state =
    kind === 'door'
      ? world.opened.includes(position)
        ? 'open '
        : 'shut '
      : kind === 'npc'
        ? isDown(world, position)
          ? 'beaten '
          : ''
        : kind === 'goal' && world.reached.includes(position)
          ? 'reached '
          : '';
  return `the ${state}${kind === 'npc' ? 'character' : kind} ${shortId(id)} at (${at.x}, ${at.y})`;
};

/**
 * The ghost's perception, in plain sentences: the effect of its last step, where it is, what is around it and what it has. The same world gives the
 * same text. At most OBSERVATION_CHARS; the effect comes first, so only the lists at the end are truncated.
 */
export const observe = (level: Level, world: World): string => {
  const { at, hp, held, reached } = world;
  const free = listed(waysOut(level, world), 'nowhere');
  const seen = listed(
    thingsInSight(level, world).map((placed) => describe(world, placed)),
    'nothing',
  );
  const carried = listed(
    held.map((item) => shortId(level.items[item]?.id ?? '')),
    'nothing',
  );
  return cutText(
    [
      ...(world.news.length === 0 ? [] : [cutText(world.news.join(' '), NEWS_CHARS)]),
      `You are at (${at.x}, ${at.y}) of ${cutText(level.name, 100)} with ${hp} of ${level.hp} hit points.`,
      `You can go ${free}.`,
      `You have reached ${reached.length} of ${level.goals.length} goals.`,
      `You carry ${carried}.`,
      `You see ${seen}.`,
    ].join(' '),
    OBSERVATION_CHARS,
  );
};

/** The `context` of a ghost's turn: the part of the world that the bridge and the rules read. */
export const ghostContextOf = (level: Level, world: World): JsonObject => ({
  worldState: {
    bounds: { minX: 0, maxX: level.width - 1, minY: 0, maxY: level.height - 1 },
    entities: entitiesOf(level, world),
  },
});

/** The `npcState` of a ghost's turn. */
export const npcStateOf = (level: Level, world: World): JsonObject => ({
  hp: world.hp,
  maxHp: level.hp,
  inventory: world.held.map((item) => level.items[item]?.id ?? ''),
  position: { x: world.at.x, y: world.at.y },
});
