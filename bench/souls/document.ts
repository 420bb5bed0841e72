import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { openSigningKeys } from '../../src/features/keys/signing-keys.js';
import { signSoul } from '../../src/features/souls/soul-signer.js';
import { createSeals } from '../../src/kernel/crypto/seals.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { makeSoul, type SoulDocument } from '../../src/features/souls/domain/document.js';
import { memoryText } from '../memory/texts.js';

const ISSUER = 'https://elsewhere.example';
const HASH = 'A'.repeat(43);

/** A soul with this many memories, signed by an unknown server. @param notesBytes of metadata in each memory */
export const strangersSoul = async (memories: number, notesBytes = 0, npcId = 'bench'): Promise<SoulDocument> => {
  await using events = EmbeddedEventStore.open(':memory:');
  const writers = new StreamWriters(events, systemClock);
  const wrapKey = systemRandom.bytes(32);
  const seals = createSeals(systemRandom.bytes(32));
  const keys = await openSigningKeys({
    events,
    writers,
    clock: systemClock,
    random: systemRandom,
    wrapKey,
    seals,
    alg: 'EdDSA',
  });
  const unsigned = makeSoul({
    soulId: `s0_0_${npcId}`,
    createdAt: new Date(0).toISOString(),
    npcId,
    persona: 'Brann lights the lamps.',
    data: { name: 'Brann', mood: 'friendly', coins: 3 },
    memories: Array.from({ length: memories }, (_, at) => ({
      id: `m${at}_0_bench`,
      text: memoryText(at),
      type: 'observation',
      importance: 0.5,
      timestamp: new Date(at * 1_000).toISOString(),
      confirmed: at % 2 === 0,
      metadata: notesBytes === 0 ? {} : { notes: 'x'.repeat(notesBytes) },
      cause: { turnId: null, eventId: '019aa5b1-7c40-8a3e-9b1c-0d2f4a6b8c1e', revision: at },
    })),
    ruleset: null,
    provenance: { issuer: ISSUER, tenant: 'local', npcId, revision: memories, hash: HASH, chain: [] },
  });
  return await signSoul(keys, ISSUER, unsigned);
};
