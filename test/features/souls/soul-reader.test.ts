import { describe, expect, it } from 'vitest';

import { createSoulReader } from '../../../src/features/souls/soul-reader.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { QUEUE_LIMIT } from '../../../src/kernel/concurrency/keyed-mutex.js';
import type { SoulTrust } from '../../../src/features/souls/verify-soul.js';
import { jcs } from '../../../src/kernel/base/json.js';
import { gate } from '../../support/gate.js';
import { ISSUER, serverKeys, soulMemories, unsignedSoul } from '../../support/souls.js';
import { countTurns } from '../../support/loop-turns.js';

const keys = await serverKeys('home');
const soul = await signSoul(keys, ISSUER, unsignedSoul());
const bytes = Buffer.from(jcs(soul));
const changed = Buffer.from(jcs({ ...soul, persona: 'Zoë is a thief.' }));

describe('a soul reader', () => {
  it('judges payloads, also the second time', async () => {
    const reader = createSoulReader({ keys, issuer: ISSUER, trusted: null });
    for (let times = 0; times < 2; times += 1) {
      const { kid } = keys.current;
      expect(await reader.judge(bytes)).toEqual({ valid: true, signer: 'ours', kid, soulId: soul.id });
      expect(await reader.judge(changed)).toEqual({ valid: false, reason: 'wrong_root' });
      expect(await reader.judge(Buffer.from('<html>'))).toEqual({ valid: false, reason: 'malformed' });
      expect(await reader.read(bytes, async ({ id, memories }) => [id, memories])).toEqual([soul.id, soul.memories]);
      expect(await reader.read(changed, async () => 'read')).toBeNull();
    }
  });

  it('checks trust and key ownership each time', async () => {
    let isOurs = true;
    const trusted = new Set<string>();
    const trust: SoulTrust = {
      keys: { publicKey: async (kid) => (isOurs ? keys.publicKey(kid) : undefined), isVoid: () => false },
      issuer: 'https://another.example',
      trusted,
    };
    const reader = createSoulReader(trust);
    expect(await reader.judge(bytes)).toMatchObject({ signer: 'ours' });
    isOurs = false;
    expect(await reader.judge(bytes)).toEqual({ valid: false, reason: 'untrusted_signer' });
    expect(await reader.read(bytes, async () => 'read')).toBeNull();
    trusted.add(keys.current.kid);
    expect(await reader.judge(bytes)).toMatchObject({ valid: true, signer: 'known' });
    const claiming = createSoulReader({ ...trust, issuer: ISSUER });
    expect(await claiming.judge(bytes)).toEqual({ valid: false, reason: 'claims_our_server' });
  });

  it('does not verify a payload twice', async () => {
    const large = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(3_000) }));
    const reader = createSoulReader({ keys, issuer: ISSUER, trusted: null });
    const payload = Buffer.from(jcs(large));
    const turnsOf = async (): Promise<number> => {
      using turns = countTurns();
      await reader.judge(payload);
      return turns.count;
    };
    expect(await turnsOf()).toBeGreaterThan(20);
    expect(await turnsOf()).toBeLessThan(10);
  });

  it('does not block other reads while it looks up a stranger’s key', async () => {
    const strangers = await serverKeys('a stranger');
    const { provenance } = unsignedSoul();
    const elsewhere = { ...unsignedSoul(), provenance: { ...provenance, issuer: 'https://elsewhere.example' } };
    const theirs = Buffer.from(jcs(await signSoul(strangers, 'https://elsewhere.example', elsewhere)));
    let store = gate();
    let asked = 0;
    const publicKey = async (kid: string) => {
      if (kid === keys.current.kid) return keys.publicKey(kid);
      asked += 1;
      await store.opened;
      return undefined;
    };
    const reader = createSoulReader({ keys: { publicKey, isVoid: () => false }, issuer: ISSUER, trusted: null });
    // The second time its content is cached.
    for (let times = 1; times <= 2; times += 1) {
      store = gate();
      const stranger = reader.read(theirs, async (_, { signer }) => signer);
      await expect.poll(() => asked).toBe(times);
      expect(await reader.read(bytes, async (_, { signer }) => signer)).toBe('ours');
      store.open();
      expect(await stranger).toBe('unknown');
    }
  });

  it('has one soul in memory at a time, and a bounded queue', async () => {
    const reader = createSoulReader({ keys, issuer: ISSUER, trusted: null });
    const { opened, open } = gate();
    let reading = 0;
    const all = Array.from({ length: QUEUE_LIMIT }, () =>
      reader.read(bytes, async () => {
        reading += 1;
        await opened;
        reading -= 1;
        return reading;
      }),
    );
    await expect.poll(() => reading).toBe(1);
    await expect
      .poll(async () => reader.read(bytes, async () => 0).catch((error: unknown) => error))
      .toMatchObject({
        code: 'BUSY',
      });
    open();
    expect(new Set(await Promise.all(all))).toEqual(new Set([0]));
  });
});
