import type { Projection } from '../src/ports/read-models.js';
import { activity } from './activity.js';
import { ghosts } from './ghosts.js';
import { levels } from './levels.js';
import { memories } from './memories.js';
import { playerNames } from './player-names.js';
import { npcs } from './npcs.js';
import { players } from './players.js';
import { replays } from './replays.js';
import { retractions } from './retractions.js';
import { rulesets } from './rulesets.js';
import { souls } from './souls.js';
import { turns } from './turns.js';
import { waitingTurns } from './waiting-turns.js';
import { utterances } from './utterances.js';

/** All read models. */
export const projections: readonly Projection[] = [
  npcs,
  turns,
  memories,
  players,
  rulesets,
  souls,
  levels,
  ghosts,
  replays,
  utterances,
  playerNames,
  retractions,
  activity,
  waitingTurns,
];
