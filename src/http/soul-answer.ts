import type { Sliced } from '../domain/shared/sliced.js';
import type { JsonObject } from '../domain/shared/json.js';
import { itemOf } from './memory-item.js';
import type { SoulDocument, SoulMemory } from '../domain/soul/document.js';

const itemOfSoul = ({ id, timestamp, confirmed, cause, ...memory }: SoulMemory) =>
  itemOf(
    {
      ...memory,
      kind: 'memory',
      memoryId: id,
      at: timestamp,
      ...cause,
      confirmedAt: confirmed ? cause.revision : null,
      stream: '',
    },
    { similarity: 1 },
  );

/** A soul as the protocol family shows it (contract 8.2). */
const protocolSoul = ({ id, version, name, persona, signature, state, memories }: SoulDocument): JsonObject => ({
  id,
  version,
  name,
  persona,
  signature,
  state: state,
  memories: memories.map(itemOfSoul),
});

/** How many characters are written between two pauses: a millisecond or two of work. */
const SLICE_CHARS = 65_536;

/** The JSON text of that. It yields whenever the driver may pause. */
export function* protocolSoulText(soul: SoulDocument): Sliced<string> {
  const texts: string[] = [];
  let unpaused = 0;
  for (const memory of soul.memories) {
    const text = JSON.stringify(itemOfSoul(memory));
    texts.push(text);
    unpaused += text.length;
    if (unpaused < SLICE_CHARS) continue;
    yield unpaused;
    unpaused = 0;
  }
  // The memories are its last member.
  return `${JSON.stringify(protocolSoul({ ...soul, memories: [] })).slice(0, -']}'.length)}${texts.join(',')}]}`;
}
