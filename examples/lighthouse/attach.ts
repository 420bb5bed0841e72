import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { GhostClient } from '../../src/body/ghost-client.js';
import { type BodyMemory, createWordMemory } from '../../src/body/memory.js';
import type { GhostStep, JsonMembers, MemoryToStore } from '../../src/body/protocol.js';
import { patiently } from './patience.js';
import { type Place, readTiledMap } from './tiled-map.js';
import { act, beginWorld, type Outcome, type World } from './world.js';

export const GHOST = 'keeper';
const LEVEL = 'lighthouse';
/** How long a session may take, in milliseconds: with the default rate limit a minute has 25 steps. */
const SESSION_MS = 900_000;

/** The game as the recorded steps leave it. */
export type Game = {
  readonly place: Place;
  readonly memory: BodyMemory;
  readonly world: World;
  /** Of the last action; null when there was none. */
  readonly outcome: Outcome | null;
};

/** Puts the game's own map, if no level is named, and begins a session in it. */
export const beginSession = async (
  ghosts: GhostClient,
  { level, goal, key }: { readonly level: string | undefined; readonly goal: string; readonly key: string },
): Promise<string> => {
  if (level === undefined) {
    const map = JSON.parse(await readFile(join(import.meta.dirname, 'map.tmj'), 'utf8')) as JsonMembers;
    await patiently(() => ghosts.putLevel(LEVEL, map));
  } else {
    // A name that was mistyped would be a level made up by the server, without a map for this game.
    await patiently(() => ghosts.levelMap(level, null));
  }
  const asked = { goal, level: level ?? LEVEL, timeout: SESSION_MS };
  return (await patiently(() => ghosts.run(asked, { idempotencyKey: key }))).id;
};

/** The game after one more step: the world does what the mind allowed. */
export const afterStep = (game: Game, action: GhostStep['action']): Game => {
  const world = { ...game.world, steps: game.world.steps + 1 };
  return action === null ? { ...game, world, outcome: null } : { ...game, ...act(game.place, world, action) };
};

const memoriesIn = ({ turns }: GhostStep): readonly MemoryToStore[] =>
  turns.flatMap(({ events }) =>
    events.flatMap(({ type, data }) => (type === 'MemoryStored' ? [data as unknown as MemoryToStore] : [])),
  );

/**
 * Makes the game of a session again. The server has every action that the mind allowed, so the game keeps no file of its own that could disagree with
 * it: whenever it was killed, it goes on from exactly what was recorded.
 */
export const resumeGame = async (ghosts: GhostClient, sessionId: string): Promise<Game> => {
  const { ghostLevel } = await patiently(() => ghosts.status(sessionId));
  const map = await patiently(() => ghosts.levelMap(ghostLevel.levelId, ghostLevel.version));
  const place = readTiledMap(map);
  let game: Game = { place, memory: createWordMemory(), world: beginWorld(place), outcome: null };
  for (let from: number | undefined = 1; from !== undefined;) {
    const first: number = from;
    const page = await patiently(() => ghosts.steps(sessionId, first));
    for (const step of page.steps) {
      game = afterStep(game, step.action);
      await game.memory.store(GHOST, memoriesIn(step));
    }
    from = page.next;
  }
  return game;
};
