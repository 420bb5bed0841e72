import type { Projection } from '../src/ports/read-models.js';
import { ghosts } from './ghosts.js';
import { levels } from './levels.js';
import { memories } from './memories.js';
import { npcs } from './npcs.js';
import { replays } from './replays.js';
import { rulesets } from './rulesets.js';
import { souls } from './souls.js';
import { turns } from './turns.js';
import { utterances } from './utterances.js';

/** All read models. */
export const projections: readonly Projection[] = [
  npcs,
  turns,
  memories,
  rulesets,
  souls,
  levels,
  ghosts,
  replays,
  utterances,
];
