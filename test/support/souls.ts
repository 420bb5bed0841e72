import { MemoryEventStore } from './memory/event-store.js';
import { revokeSigningKeySince, rotateSigningKey } from '../../src/features/keys/change-signing-keys.js';
import { openSigningKeys } from '../../src/features/keys/signing-keys.js';
import type { OtherArchives } from '../../src/features/souls/other-archives.js';
import { tenantStream } from '../../src/kernel/base/stream-names.js';
import { systemContext } from '../../src/kernel/streams/command-id.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import {
  makeSoul,
  type SoulInputs,
  type SoulMemory,
  type UnsignedSoul,
} from '../../src/features/souls/domain/document.js';
import type { Clock } from '../../src/ports/clock.js';
import type { SigningAlgorithm, SigningKeys } from '../../src/ports/signing-keys.js';
import { ManualClock } from './manual-clock.js';
import { seals } from './seals.js';
import { seededRandom } from './seeded-random.js';

/** The signing keys of a separate server: the same seed makes the same keys. */
export const serverKeys = (seed: string, alg: SigningAlgorithm = 'EdDSA'): Promise<SigningKeys> => {
  const events = Object.assign(new MemoryEventStore(), { soleWriter: true as const });
  const clock = new ManualClock();
  const deps = { events, clock, writers: new StreamWriters(events, clock, { seals }), random: seededRandom(seed) };
  return openSigningKeys({ ...deps, wrapKey: new Uint8Array(32).fill(9), seals, alg });
};

/** Signing keys that are rotated and revoked directly, beside those that a test hands out. */
export const rotatingKeys = async (
  seed: string,
  clock: Clock = new ManualClock(),
): Promise<SigningKeys & { rotate(): Promise<string>; revoke(kid: string, since: string): Promise<void> }> => {
  const events = Object.assign(new MemoryEventStore(), { soleWriter: true as const });
  const deps = { events, clock, writers: new StreamWriters(events, clock, { seals }), random: seededRandom(seed) };
  const signing = { ...deps, wrapKey: new Uint8Array(32).fill(9), seals, alg: 'EdDSA' } as const;
  const signingKeys = await openSigningKeys(signing);
  const changes = { ...signing, signingKeys };
  const command = () => systemContext(deps, tenantStream('local'));
  return Object.assign(signingKeys, {
    rotate: async () => (await rotateSigningKey(changes, command())).kid,
    revoke: async (kid: string, since: string) => {
      await revokeSigningKeySince(changes, { kid, since, reason: 'stolen' }, command());
    },
  });
};

/** The dependencies of a server without configured archives. */
export const noOtherArchives: OtherArchives = {
  ipfs: null,
  gateways: { find: () => Promise.resolve(null) },
  bundler: null,
  ipfsGatewayUrl: null,
  arweaveGatewayUrl: null,
  otherGatewayUrl: null,
};

export const ISSUER = 'https://minds.example';

export const soulMemory = (place: number, more: Partial<SoulMemory> = {}): SoulMemory => ({
  id: `m${place}_mbx1_AbCdEf-_`,
  text: `Memory ${place}: the player stole the ruby “necklace”.`,
  type: 'observation',
  importance: 0.8,
  timestamp: '2026-11-21T09:30:00.250Z',
  confirmed: place % 2 === 0,
  metadata: { place, weight: 1e-7 },
  cause: {
    turnId: place % 2 === 0 ? null : `t${place}`,
    eventId: '019aa5b1-7c40-8a3e-9b1c-0d2f4a6b8c1e',
    revision: place,
  },
  ...more,
});

export const soulMemories = (count: number): readonly SoulMemory[] =>
  Array.from({ length: count }, (_, place) => soulMemory(place));

const DIGEST = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';

export const unsignedSoul = (more: Partial<SoulInputs> = {}): UnsignedSoul =>
  makeSoul({
    soulId: 's3_mbx2_soul',
    createdAt: '2026-11-21T10:00:00.999Z',
    npcId: 'Zoë of the gate',
    persona: 'Zoë guards the “old gate”. \u0007\ud83d\ude00',
    data: { name: 'Zoë', inventory: ['key'], fear: 0.25, hp: 10, skills: 'none', constructor: { a: null } },
    memories: soulMemories(3),
    ruleset: { rulesetId: 'town', version: 2, digest: DIGEST },
    provenance: {
      issuer: ISSUER,
      tenant: 'local',
      npcId: 'Zoë of the gate',
      revision: 41,
      hash: DIGEST,
      chain: [
        {
          soulId: 's1',
          txId: DIGEST,
          issuer: 'https://elsewhere.example',
          tenant: 'other',
          npcId: 'Zoë',
          kid: DIGEST,
          root: DIGEST,
          importedAt: '2026-10-01T00:00:00.000Z',
        },
      ],
    },
    ...more,
  });
