import type { NpcEvent } from '../src/domain/npc/events.js';
import type { Emitted } from './process.js';

/** An event of a mind as a cell emits it: JSON by construction, which the compiler cannot see of types without an index signature. */
export const draft = (event: NpcEvent): Emitted => event as unknown as Emitted;
