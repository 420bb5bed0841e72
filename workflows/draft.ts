import type { NpcEvent } from '../src/domain/npc/events.js';
import type { Emitted } from './state-machine.js';

/** An event of a mind as a transition emits it: JSON by construction, which the compiler cannot see of types without an index signature. */
export const draft = (event: NpcEvent): Emitted => event as unknown as Emitted;
