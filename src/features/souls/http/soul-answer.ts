import type { Sliced } from '../../../kernel/base/sliced.js';
import { itemOf } from '../../memory/memory-item.js';
import type { SoulDocument, SoulMemory } from '../domain/document.js';

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

/** How many characters are written between two pauses: a millisecond or two of work. */
const SLICE_CHARS = 65_536;

/** A soul as the protocol family shows it, as JSON text. It yields whenever the driver may pause. */
export function* protocolSoulText(soul: SoulDocument): Sliced<string> {
  const { id, version, name, persona, signature, state, memories } = soul;
  const texts: string[] = [];
  let unpaused = 0;
  for (const memory of memories) {
    const text = JSON.stringify(itemOfSoul(memory));
    texts.push(text);
    unpaused += text.length;
    if (unpaused < SLICE_CHARS) continue;
    yield unpaused;
    unpaused = 0;
  }
  const before = JSON.stringify({ id, version, name, persona, signature, state }).slice(0, -'}'.length);
  return `${before},"memories":[${texts.join(',')}]}`;
}
