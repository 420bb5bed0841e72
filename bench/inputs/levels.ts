import { get, type Input, post, type Send, type Sent, untilSaid } from './input.js';

const TILE = 16;
const ACROSS = 256;

type Thing = { readonly type: string; readonly name: string; readonly properties?: Readonly<Record<string, unknown>> };
const typeOf = (value: unknown): string =>
  typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'int';
const propertiesOf = (of: Readonly<Record<string, unknown>>) =>
  Object.entries(of).map(([name, value]) => ({ name, type: typeOf(value), value }));

/** A map of 256 × 256 tiles with a wall in every eighth column and the things spread over the tiles between. */
const mapOf = (things: readonly Thing[], properties: Readonly<Record<string, unknown>> = {}): object => {
  const gaps = things.filter(({ type }) => type === 'door').length > 0 ? 0 : 3;
  const data = Array.from({ length: ACROSS * ACROSS }, (_, at) => {
    const [x, y] = [at % ACROSS, Math.floor(at / ACROSS)];
    return x % 8 === 7 && y % 64 >= gaps + 1 ? 1 : 0;
  });
  const placed = things.map(({ type, name, properties: own = {} }, n) => {
    const x = type === 'door' ? 8 * (n % 31) + 7 : 8 * (n % 32) + 1 + (Math.floor(n / 32) % 6);
    const y = type === 'door' ? 64 * (Math.floor(n / 31) % 4) : (Math.floor(n / 32) * 7) % ACROSS;
    return {
      ...{ id: n + 1, name, type, x: x * TILE, y: y * TILE, width: TILE, height: TILE, rotation: 0, visible: true },
      properties: propertiesOf(own),
    };
  });
  const layer = { opacity: 1, visible: true, x: 0, y: 0 };
  return {
    ...{ type: 'map', version: '1.10', tiledversion: '1.10.2', orientation: 'orthogonal', renderorder: 'right-down' },
    ...{ width: ACROSS, height: ACROSS, tilewidth: TILE, tileheight: TILE, infinite: false, nextlayerid: 3 },
    nextobjectid: things.length + 1,
    properties: propertiesOf(properties),
    tilesets: [],
    layers: [
      { ...layer, id: 1, name: 'collision', type: 'tilelayer', width: ACROSS, height: ACROSS, data },
      { ...layer, id: 2, name: 'things', type: 'objectgroup', draworder: 'topdown', objects: placed },
    ],
  };
};

const spawn: Thing = { type: 'spawn', name: 'start' };
const goals: readonly Thing[] = [{ type: 'goal', name: 'garden' }];
const many = (count: number, of: (n: number) => Thing): readonly Thing[] =>
  Array.from({ length: count }, (_, n) => of(n));

/** As many things as a level may have, of the kinds that cost the most. */
const crowded = (name: string): object =>
  mapOf(
    [
      spawn,
      ...goals,
      ...many(20, (n) => ({ type: 'npc', name: `npc ${n}`, properties: { persona: 'x'.repeat(4_000), says: 'Hm.' } })),
      ...many(400, (n) => ({ type: 'item', name: `item ${n}`, properties: { heals: 1, consumed: n % 2 === 0 } })),
      ...many(300, (n) => ({ type: 'trigger', name: `trigger ${n}`, properties: { text: 'y'.repeat(900) } })),
      ...many(270, (n) => ({ type: 'hazard', name: `hazard ${n}`, properties: { harm: 1 } })),
    ],
    { name, hp: 1_000_000 },
  );

/** 124 doors, each with separate keys and keys that open all. */
const locked = (name: string): object =>
  mapOf(
    [
      spawn,
      ...goals,
      ...many(124, (n) => ({ type: 'door', name: `door ${n}`, properties: { locked: true } })),
      ...many(700, (n) => ({
        type: 'item',
        name: `key ${n}`,
        properties: {
          opens:
            n % 2 === 0 ? `door ${n % 124}` : Array.from({ length: 20 }, (_, d) => `door ${(n + d) % 124}`).join(','),
        },
      })),
    ],
    { name, hp: 1_000_000 },
  );

const put = (levelId: string, body: object): Sent => ({ method: 'PUT', path: `/levels/${levelId}`, body });

const RUNNING: readonly unknown[] = ['pending', 'running'];

type Begun = { readonly id: string };
/** Waits until the session in the answer is over. */
const over =
  (send: Send) =>
  async (begun: unknown): Promise<void> => {
    const asked = get(`/ghost/${(begun as Begun).id}/status`);
    await untilSaid(send, asked, (said) => !RUNNING.includes((said as { ghostStatus: string }).ghostStatus));
  };

const begin = (level: string, goal: string, steps: number): Sent =>
  post('/v1/ghost/run', { goal, level, seed: 1, steps, timeout: 60_000 });

/** A session is begun and plays in the background until it is over. */
const session =
  (map: (name: string) => object, goal: string, steps: number): Input =>
  async (name, send) => {
    await send(put(name, map(name)));
    return { ...begin(name, goal, steps), until: over(send) };
  };

/** Reads of a session that has hunted bugs in a crowded level. */
const played =
  (path: string): Input =>
  async (name, send) => {
    await send(put(name, crowded(name)));
    const begun = await send(begin(name, 'find_bugs', 500));
    await over(send)(begun);
    return get(`/ghost/${(begun as Begun).id}/${path}`);
  };

/** Levels, sessions in them, and reads of these. */
export const levelInputs: Readonly<Record<string, Input>> = {
  'a level of 1,000 objects': async (levelId) => put(levelId, crowded(levelId)),
  'a level of 124 doors and 700 keys': async (levelId) => put(levelId, locked(levelId)),
  'a session in a crowded level': session(crowded, 'find_bugs', 300),
  'a session among locked doors': session(locked, 'maximize_exploration', 300),
  'results of a session': played('results'),
  'the picture of a session': played('picture'),
  'the PNG of a session': played('picture?format=png'),
  'the JUnit report of a session': played('junit'),
};
