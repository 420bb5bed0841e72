import type { Sliced } from '../../kernel/base/sliced.js';
import { jsonBytes, type JsonObject } from '../../kernel/base/json.js';
import type { SoulMemory } from './domain/document.js';
import { aboutPlayers, withoutPlayers } from './domain/said-of-players.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { memoryPauses } from './memory-pauses.js';
import type { NamedPlayers } from './disclose.js';

/** The contents of a mind that go into its soul. */
export type Told = {
  readonly persona: string | null;
  readonly data: JsonObject;
  readonly facts: JsonObject;
  readonly memories: readonly SoulMemory[];
};

/** @param arrivedAt the revision at which the mind's soul arrived. Its memories are from turns elsewhere, even if they name none. */
function* notAboutPlayers(
  memories: readonly SoulMemory[],
  { index, turns }: NamedPlayers,
  arrivedAt: number,
): Sliced<SoulMemory[]> {
  const kept: SoulMemory[] = [];
  const isPauseDue = memoryPauses();
  for (const memory of memories) {
    const { players, isUntold } = aboutPlayers(memory, index, turns);
    const isUnseen = isUntold || memory.cause.revision < arrivedAt;
    if (players.length === 0 && !isUnseen) kept.push(memory);
    const size = jsonBytes(memory);
    if (isPauseDue(size)) yield size;
  }
  return kept;
}

/**
 * Leaves out what is said of players, too much rather than too little. Yields to other work in between.
 * @param arrivedAt the revision at which the soul of an imported mind arrived
 */
export const toldWithoutPlayers = async (
  { persona, data, facts, memories }: Told,
  named: NamedPlayers,
  arrivedAt = -1,
): Promise<Told> => {
  named.index.note(data);
  named.index.note(facts);
  const isAboutOne = persona !== null && named.index.spokenOf(persona).length > 0;
  return {
    persona: isAboutOne ? null : persona,
    data: withoutPlayers(data, named.index),
    facts: withoutPlayers(facts, named.index),
    memories: await inSlices(notAboutPlayers(memories, named, arrivedAt)),
  };
};
