import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { EARSHOT_TILES } from './act.js';
import { chartOf, DIRECTIONS, distance, isOnMap, numberOfTile, type Placed } from './chart.js';
import { greetings, injections, malformedActions, unknownTypes } from './hostile-texts.js';
import { textOf, type Plan, type ProtocolProbe } from './policy.js';
import type { Dice } from './random.js';
import { isEnterable, SIGHT_TILES, thingsInSight, type World } from './world.js';

/** A text that tries to provoke a defect. */
export type Probe = { readonly kind: string; readonly text: string; readonly probe?: ProtocolProbe };
type ProbeScene = { readonly level: Level; readonly world: World; readonly plan: Plan; readonly dice: Dice };

const move = (x: number, y: number): JsonObject => ({ type: 'MOVE', payload: { x, y } });

/** Leaves the map, or walks into a wall, a shut door or far away. */
const boundary = ({ level, world, dice }: ProbeScene): Probe => {
  const { at } = world;
  const neighbours = DIRECTIONS.map((way) => ({ x: at.x + way.x, y: at.y + way.y }));
  const blocked = neighbours.filter((to) => !isOnMap(level, to) || !isEnterable(level, world, numberOfTile(level, to)));
  const to = dice.luck(60) ? dice.any(blocked) : undefined;
  if (to !== undefined) return { kind: 'boundary', text: textOf(move(to.x, to.y)) };
  const far = dice.pick([
    { x: -1, y: at.y },
    { x: level.width, y: at.y },
    { x: at.x, y: -1 },
    { x: at.x, y: level.height },
    { x: at.x + 2, y: at.y },
    { x: at.x, y: at.y },
    { x: 1_000_000, y: -1_000_000 },
  ]);
  return { kind: 'boundary', text: textOf(move(far.x, far.y)) };
};

const anyThing = ({ level, dice }: ProbeScene): Placed | undefined => dice.any([...chartOf(level).byId.values()]);
const someThing = (scene: ProbeScene): Placed | undefined =>
  scene.dice.any(thingsInSight(scene.level, scene.world)) ?? anyThing(scene);

/** Uses each item on each object in turn: `plan.turn` counts through all pairs. */
const itemOnThing = ({ level, world, plan }: ProbeScene): Probe | null => {
  const { held } = world;
  const item = held[plan.turn % Math.max(1, held.length)];
  if (item === undefined) return null;
  const things = thingsInSight(level, world);
  const target = things[Math.floor(plan.turn / held.length) % Math.max(1, things.length)]?.id ?? '';
  return {
    kind: 'item_on_thing',
    text: textOf({ type: 'USE', target, payload: { item: level.items[item]?.id ?? '' } }),
  };
};

const notHeld = (scene: ProbeScene): Probe => {
  const { level, world, dice } = scene;
  const absent = level.items.filter((_, item) => !world.held.includes(item));
  const item = dice.any(absent)?.id ?? 'excalibur';
  const type = dice.pick(['USE', 'USE', 'GIVE']);
  return { kind: 'not_held', text: textOf({ type, target: someThing(scene)?.id ?? '', payload: { item } }) };
};

/** Acts on any object of the level, however far away, or on one that does not exist. */
const outOfReach = (scene: ProbeScene): Probe => {
  const target = scene.dice.luck(80) ? (anyThing(scene)?.id ?? 'nothing') : 'the philosopher’s stone';
  const type = scene.dice.pick(['INTERACT', 'INTERACT', 'SPEAK', 'ATTACK', 'MOVE']);
  return { kind: 'out_of_reach', text: textOf({ type, target }, type === 'SPEAK' ? 'Do you hear me?' : '') };
};

const nearby = (scene: ProbeScene): Probe => {
  const type = scene.dice.pick(['INTERACT', 'INTERACT', 'ATTACK']);
  return { kind: 'nearby', text: textOf({ type, target: someThing(scene)?.id ?? '' }) };
};

/** An NPC within this many tiles, if there is one. */
const listener = ({ level, world, dice }: ProbeScene, tiles: number): string =>
  dice.any(thingsInSight(level, world).filter(({ kind, at }) => kind === 'npc' && distance(world.at, at) <= tiles))
    ?.id ?? '';

const speech = (scene: ProbeScene): Probe => {
  const words = scene.dice.luck(70) ? scene.dice.pick(greetings) : scene.dice.pick(injections);
  return { kind: 'speech', text: textOf({ type: 'SPEAK', target: listener(scene, SIGHT_TILES) }, words) };
};

const unknown = (scene: ProbeScene): Probe => ({
  kind: 'unknown_action',
  text: textOf({ type: scene.dice.pick(unknownTypes), target: someThing(scene)?.id ?? '' }),
});

const protocol = ({ dice }: ProbeScene): Probe => ({
  kind: 'protocol',
  text: textOf({ type: 'IDLE' }),
  probe: dice.pick(['repeat_step', 'stale_step', 'contradicting_tape']),
});

const families: readonly [(scene: ProbeScene) => Probe | null, ...((scene: ProbeScene) => Probe | null)[]] = [
  boundary,
  boundary,
  itemOnThing,
  itemOnThing,
  notHeld,
  outOfReach,
  nearby,
  speech,
  unknown,
  protocol,
  ({ dice }) => ({ kind: 'malformed', text: dice.pick(malformedActions) }),
  ({ dice }) => ({ kind: 'injection', text: dice.pick(injections) }),
  ({ plan }) => (plan.said === '' ? null : { kind: 'repeat', text: plan.said }),
];

/** Draws a probe that fits the scene. */
export const drawProbe = (scene: ProbeScene): Probe => scene.dice.pick(families)(scene) ?? boundary(scene);

/** A greeting to anyone near, as an ordinary player would say it. */
export const greet = (scene: ProbeScene): string =>
  textOf({ type: 'SPEAK', target: listener(scene, EARSHOT_TILES) }, scene.dice.pick(greetings));
