import type { Action } from '../bridge/action.js';
import { itemsOf } from '../bridge/world.js';
import type { Level } from '../level/level.js';
import { chartOf } from './chart.js';
import { deed, refuse, targetOf, type Deed, type Refused } from './deed.js';
import { entitiesOf } from './sight.js';
import { isDown, shortId, type World } from './world.js';

const openDoor = (level: Level, world: World, door: number): Deed | Refused => {
  const { id, locked } = level.doors[door] ?? { id: '', locked: true };
  if (world.opened.includes(door)) return refuse('DOOR_OPEN', `The door ${shortId(id)} is open already.`);
  if (locked) return refuse('DOOR_LOCKED', `The door ${shortId(id)} is locked.`);
  return deed(world, { opened: [...world.opened, door] }, `You open the door ${shortId(id)}.`);
};

/** Takes an item, opens a door, touches a goal. */
export const interact = (level: Level, world: World, action: Action): Deed | Refused => {
  const target = targetOf(level, world, action);
  if ('ok' in target) return target;
  const { kind, position } = target;
  const name = shortId(target.id);
  switch (kind) {
    case 'item':
      return deed(world, { held: [...world.held, position] }, `You take the item ${name}.`);
    case 'door':
      return openDoor(level, world, position);
    case 'goal': {
      const reached = world.reached.includes(position) ? world.reached : [...world.reached, position];
      return deed(world, { reached }, `You reach the goal ${name}.`);
    }
    case 'npc':
      return isDown(world, position)
        ? refuse('TARGET_DOWN', `${name} is down.`)
        : deed(world, {}, `${name} takes notice of you.`);
    case 'hazard':
      return refuse('TARGET_UNFIT', `Nothing can be done with the hazard ${name}.`);
  }
};

type LevelItem = Level['items'][number];

/** The world after an item was used: some are gone then. */
const used = ({ held, spent }: World, item: number, { consumed }: LevelItem): Partial<World> =>
  consumed ? { held: held.filter((one) => one !== item), spent: [...spent, item] } : {};

const heal = (level: Level, world: World, item: number, it: LevelItem): Deed | Refused => {
  const name = shortId(it.id);
  if (it.heals <= 0)
    return refuse(it.opens.length > 0 ? 'TARGET_MISSING' : 'ITEM_UNFIT', `The item ${name} does nothing by itself.`);
  if (world.hp >= level.hp) return refuse('NOT_HURT', 'You are not hurt.');
  const hp = Math.min(level.hp, world.hp + it.heals);
  return deed(world, { ...used(world, item, it), hp }, `You use the item ${name} and have ${hp} hit points.`);
};

/** What the ghost has that opens the door that an action is about: who names only the door means that. */
const keyFor = (level: Level, { held }: World, { target = '' }: Action): string | undefined =>
  held.flatMap((item) => level.items[item] ?? []).find(({ opens }) => opens.includes(target))?.id;

/** Uses an item that is held: on a door, or to heal. */
export const use = (level: Level, world: World, action: Action): Deed | Refused => {
  const [name = keyFor(level, world, action), second] = itemsOf(action, { entities: entitiesOf(level, world) }) ?? [];
  if (name === undefined) {
    const { kind, id } = chartOf(level).byId.get(action.target ?? '') ?? {};
    const reason = `You have nothing that opens the door ${shortId(id ?? '')}.`;
    return refuse('ITEM_MISSING', kind === 'door' ? reason : 'It does not say which item to use.');
  }
  if (second !== undefined) return refuse('ITEM_UNFIT', 'One item is used at a time.');
  const placed = chartOf(level).byId.get(name);
  const it = placed?.kind === 'item' ? level.items[placed.position] : undefined;
  if (placed === undefined || it === undefined || !world.held.includes(placed.position)) {
    return refuse('ITEM_NOT_HELD', `You do not have ${shortId(name)}.`);
  }
  const item = placed.position;
  if ((action.target ?? '') === '' || action.target === name) return heal(level, world, item, it);
  const target = targetOf(level, world, action);
  if ('ok' in target) return target;
  if (target.kind !== 'door') return refuse('TARGET_UNFIT', `The ${target.kind} ${shortId(target.id)} takes no item.`);
  if (world.opened.includes(target.position))
    return refuse('DOOR_OPEN', `The door ${shortId(target.id)} is open already.`);
  if (!it.opens.includes(target.id)) {
    return refuse('ITEM_UNFIT', `The item ${shortId(name)} does not open the door ${shortId(target.id)}.`);
  }
  const opened = [...world.opened, target.position];
  return deed(
    world,
    { ...used(world, item, it), opened },
    `You open the door ${shortId(target.id)} with ${shortId(name)}.`,
  );
};
