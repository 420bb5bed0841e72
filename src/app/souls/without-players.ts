import type { Sliced } from '../../domain/rules/hold-patterns.js';
import type { JsonObject } from '../../domain/shared/json.js';
import type { SoulMemory } from '../../domain/soul/document.js';
import { aboutPlayers, withoutPlayers } from '../../domain/soul/said-of-players.js';
import { inSlices } from '../pacing/in-slices.js';
import type { NamedPlayers } from './named-players.js';

/** How many memories are looked at before others have their turn; each may have 24 KiB of text and metadata. */
const MEMORIES_A_SLICE = 32;

/** What of a mind speaks for itself in a soul. */
export type Told = {
  readonly persona: string | null;
  readonly data: JsonObject;
  readonly memories: readonly SoulMemory[];
};

function* notAboutPlayers(memories: readonly SoulMemory[], { index, turns }: NamedPlayers): Sliced<SoulMemory[]> {
  const kept: SoulMemory[] = [];
  for (const [place, memory] of memories.entries()) {
    const { players, isUntold } = aboutPlayers(memory, index, turns);
    if (players.length === 0 && !isUntold) kept.push(memory);
    if (place % MEMORIES_A_SLICE === 0) yield MEMORIES_A_SLICE;
  }
  return kept;
}

/** Leaves out what is said of players, rather too much than too little (contract 8.10). The work lets others run in between. */
export const toldWithoutPlayers = async ({ persona, data, memories }: Told, named: NamedPlayers): Promise<Told> => {
  named.index.note(data);
  const isAboutOne = persona !== null && named.index.spokenOf(persona).length > 0;
  return {
    persona: isAboutOne ? null : persona,
    data: withoutPlayers(data, named.index),
    memories: await inSlices(notAboutPlayers(memories, named)),
  };
};
