import { randomBytes } from 'node:crypto';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { contentDigest } from '../../src/kernel/crypto/content-digest.js';
import { MAX_ARCHIVED_BYTES, type SoulArchive } from '../../src/ports/soul-archive.js';

export type OpenedArchive = { readonly archive: SoulArchive; readonly dispose: () => Promise<void> };

const at = (second: number): Date => new Date(Date.UTC(2030, 0, 1) + second * 1_000);
const ONE = { tenant: 'studio', at: at(0) };
const OTHER = { tenant: 'other-studio', at: at(1) };

const payload = Buffer.from('{"name":"Mira \u{1f600}"}');
const digest = contentDigest(payload);
/** More than are dropped per call below. */
const texts = Array.from({ length: 5 }, (_, n) => Buffer.from(`"payload ${String(n)}"`));

/** The promises of every payload archive (ports/soul-archive.ts). */
export const soulArchiveContract = (name: string, open: () => Promise<OpenedArchive>): void => {
  describe(`${name} as a soul archive`, () => {
    let opened: OpenedArchive;
    let archive: SoulArchive;

    beforeEach(async () => {
      opened = await open();
      archive = opened.archive;
    });

    afterEach(() => opened.dispose());

    const stage = (until = at(60), by: { readonly tenant: string } = ONE, bytes: Buffer = payload) =>
      archive.stage(contentDigest(bytes), bytes, { ...by, expiresAt: until });
    const seen = async (of = digest) => {
      const texts = [await archive.read(of), await archive.readPublic(of)];
      return texts.map((bytes) => bytes && Buffer.from(bytes).toString());
    };
    const whole = payload.toString();

    it('has nothing that was never staged', async () => {
      expect(await seen()).toEqual([null, null]);
      expect(await archive.publish(digest, ONE)).toBeNull();
      expect(await seen()).toEqual([null, null]);
    });

    it('shows staged payloads to the server only, and published ones to everyone', async () => {
      await stage();
      expect(await seen()).toEqual([whole, null]);
      expect(await archive.publish(digest, ONE)).toBe('published');
      expect(await seen()).toEqual([whole, whole]);
    });

    it('withdraws a public payload, which can be published again', async () => {
      await stage();
      expect(await archive.withdraw(digest)).toBe(false);
      expect(await seen()).toEqual([whole, null]);
      await archive.publish(digest, ONE);
      await stage(at(60), OTHER);
      expect(await archive.withdraw(digest)).toBe(true);
      expect(await seen()).toEqual([null, null]);
      expect([await archive.withdraw(digest), await archive.withdraw('no digest')]).toEqual([false, false]);
      await stage();
      expect(await archive.publish(digest, ONE)).toBe('published');
    });

    it('keeps staged payloads forever if they expire at the last possible instant', async () => {
      await stage(new Date(8_640_000_000_000_000));
      expect(await archive.dropStaged(new Date(Date.UTC(9_999, 11, 31)), 10)).toBe(0);
      expect(await seen()).toEqual([whole, null]);
    });

    it('counts the staged payloads of each tenant that are not public', async () => {
      expect(await archive.stagedBytes(ONE.tenant)).toBe(0);
      const [first = payload, second = payload] = texts;
      for (const bytes of [first, second, first]) await stage(at(60), ONE, bytes);
      await stage(at(90), ONE, second);
      await stage(at(60), OTHER, payload);
      expect(await archive.stagedBytes(ONE.tenant)).toBe(first.length + second.length);
      await archive.publish(contentDigest(first), ONE);
      expect(await archive.stagedBytes(ONE.tenant)).toBe(second.length);
      await archive.dropStaged(at(90), 10);
      expect(await archive.stagedBytes(ONE.tenant)).toBe(0);
      expect(await archive.stagedBytes(OTHER.tenant)).toBe(0);
    });

    it('counts all tenants with a common prefix together', async () => {
      const [first = payload, second = payload, third = payload] = texts;
      await stage(at(60), ONE, first);
      await stage(at(60), { tenant: 'Ia_-x_i0_one' }, second);
      await stage(at(60), { tenant: 'Ia_-x_i0_two' }, second);
      for (const tenant of ['Ia_-y_i0_one', 'IaB-x_i0_one', 'a_-x_', OTHER.tenant])
        await stage(at(60), { tenant }, third);
      expect(await archive.stagedBytes(ONE.tenant, 'Ia_-x_')).toBe(first.length + 2 * second.length);
      expect(await archive.stagedBytes(ONE.tenant, 'Ix_')).toBe(first.length);
      expect(await archive.stagedBytes(ONE.tenant)).toBe(first.length);
    });

    it("drops the staged payloads of one tenant on request, not public ones or another tenant's", async () => {
      await stage(at(60), ONE);
      await stage(at(60), OTHER);
      await archive.unstage(digest, ONE);
      await archive.unstage(digest, ONE);
      expect([await archive.stagedBytes(ONE.tenant), await seen()]).toEqual([0, [whole, null]]);
      expect(await archive.publish(digest, ONE)).toBeNull();
      await archive.publish(digest, OTHER);
      await archive.unstage(digest, OTHER);
      expect(await seen()).toEqual([whole, whole]);
    });

    it('publishes once, however often it is requested', async () => {
      await stage();
      await archive.publish(digest, ONE);
      expect(await archive.publish(digest, ONE)).toBe('wasPublic');
      expect(await archive.publish(digest, OTHER)).toBe('wasPublic');
    });

    it('reports the publication to only one of many concurrent callers', async () => {
      await Promise.all([1, 2, 3, 4].map(() => stage()));
      const said = await Promise.all([1, 2, 3, 4].map(() => archive.publish(digest, ONE)));
      expect(said.sort()).toEqual(['published', 'wasPublic', 'wasPublic', 'wasPublic']);
      expect(await seen()).toEqual([whole, whole]);
    });

    it('publishes for a tenant only what that tenant staged', async () => {
      await stage();
      expect(await archive.publish(digest, OTHER)).toBeNull();
      expect(await seen()).toEqual([whole, null]);
      await stage(at(60), OTHER);
      expect(await archive.publish(digest, OTHER)).toBe('published');
      expect(await archive.publish(digest, ONE)).toBe('wasPublic');
    });

    it('drops expired payloads only', async () => {
      await stage(at(60));
      expect(await archive.dropStaged(at(59), 10)).toBe(0);
      expect(await seen()).toEqual([whole, null]);
      expect(await archive.dropStaged(at(60), 10)).toBe(1);
      expect(await seen()).toEqual([null, null]);
      expect(await archive.publish(digest, ONE)).toBeNull();
    });

    it('keeps a payload that is staged twice until the later time', async () => {
      await stage(at(60));
      await stage(at(90));
      await stage(at(30));
      expect(await archive.dropStaged(at(89), 10)).toBe(0);
      expect(await seen()).toEqual([whole, null]);
      expect(await archive.dropStaged(at(90), 10)).toBe(1);
      expect(await seen()).toEqual([null, null]);
    });

    it('keeps for one tenant what has expired for another', async () => {
      await stage(at(60));
      await stage(at(90), OTHER);
      expect(await archive.dropStaged(at(60), 10)).toBe(1);
      expect(await seen()).toEqual([whole, null]);
      expect(await archive.publish(digest, ONE)).toBeNull();
      expect(await archive.publish(digest, OTHER)).toBe('published');
    });

    it('never drops what is public', async () => {
      await stage(at(60));
      await stage(at(60), OTHER);
      await archive.publish(digest, ONE);
      await stage(at(60));
      expect(await archive.dropStaged(at(1_000), 10)).toBeLessThan(2);
      expect(await seen()).toEqual([whole, whole]);
    });

    it('drops public payloads that were published long enough ago, not staged copies', async () => {
      const [young = payload] = texts;
      await stage(at(60));
      await archive.publish(digest, ONE);
      await stage(at(60), OTHER, young);
      await archive.publish(contentDigest(young), { ...OTHER, at: at(10) });
      expect(await archive.dropPublic(new Date(at(0).getTime() - 1), 10)).toBe(0);
      expect(await archive.dropPublic(at(0), 10)).toBe(1);
      expect(await seen()).toEqual([null, null]);
      expect(await seen(contentDigest(young))).toEqual([young.toString(), young.toString()]);
      await stage(at(60));
      expect(await archive.dropPublic(at(9), 10)).toBe(0);
      expect(await archive.dropPublic(at(10), 10)).toBe(1);
      expect(await seen()).toEqual([whole, null]);
    });

    it('counts the age of a payload from its first publication, and anew after it was withdrawn', async () => {
      await stage();
      await archive.publish(digest, ONE);
      expect(await archive.publish(digest, { ...ONE, at: at(50) })).toBe('wasPublic');
      expect(await archive.dropPublic(at(0), 10)).toBe(1);
      await stage();
      await archive.publish(digest, ONE);
      await archive.withdraw(digest);
      await stage();
      await archive.publish(digest, { ...ONE, at: at(50) });
      expect(await archive.dropPublic(at(49), 10)).toBe(0);
      expect(await seen()).toEqual([whole, whole]);
    });

    it('drops at most the requested number of public payloads per call', async () => {
      for (const bytes of texts) {
        await stage(at(60), ONE, bytes);
        await archive.publish(contentDigest(bytes), ONE);
      }
      const dropped = [];
      for (let n = 0; n < 4; n += 1) dropped.push(await archive.dropPublic(at(0), 2));
      expect(dropped).toEqual([2, 2, 1, 0]);
      for (const bytes of texts) expect(await seen(contentDigest(bytes))).toEqual([null, null]);
    });

    it('drops each public payload once for concurrent callers', async () => {
      for (const bytes of texts) {
        await stage(at(60), ONE, bytes);
        await archive.publish(contentDigest(bytes), ONE);
      }
      const drop = async () => {
        let sum = 0;
        for (let dropped = 2; dropped === 2; sum += dropped) dropped = await archive.dropPublic(at(0), 2);
        return sum;
      };
      const sums = await Promise.all([drop(), drop(), drop()]);
      expect(sums.reduce((sum, dropped) => sum + dropped)).toBe(texts.length);
      for (const bytes of texts) expect(await archive.readPublic(contentDigest(bytes))).toBeNull();
    });

    it('drops at most the requested number per call', async () => {
      for (const bytes of texts) await stage(at(60), ONE, bytes);
      const dropped = [];
      for (let n = 0; n < 4; n += 1) dropped.push(await archive.dropStaged(at(60), 2));
      expect(dropped).toEqual([2, 2, 1, 0]);
    });

    it('loses nothing that is staged and published while others are dropped', async () => {
      for (const bytes of texts) await stage(at(60), ONE, bytes);
      await Promise.all([
        archive.dropStaged(at(60), 10),
        ...texts.map(async (bytes) => {
          await stage(at(90), ONE, bytes);
          expect(await archive.publish(contentDigest(bytes), ONE)).toBe('published');
        }),
      ]);
      for (const bytes of texts) expect(await archive.readPublic(contentDigest(bytes))).not.toBeNull();
    });

    it('returns every byte of the largest payload, and of an empty one', async () => {
      const largest = randomBytes(MAX_ARCHIVED_BYTES);
      for (const bytes of [largest, Buffer.alloc(0)]) {
        await stage(at(60), ONE, bytes);
        await archive.publish(contentDigest(bytes), ONE);
        expect(Buffer.compare((await archive.readPublic(contentDigest(bytes))) ?? Buffer.from('none'), bytes)).toBe(0);
      }
    });

    it('remembers which payload a CID names, even if it is not stored', async () => {
      const cid = 'bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y';
      const neighbour = 'bafybeig3mxlp6od42256fh35o5z3xns4kelhnovsgorfx4wm7njcl43goy';
      expect(await archive.digestOfCid(cid)).toBeNull();
      await Promise.all([archive.nameByCid(cid, digest), archive.nameByCid(cid, digest)]);
      await archive.nameByCid(neighbour, contentDigest(texts[0] ?? payload));
      expect([await archive.digestOfCid(cid), await archive.readPublic(digest)]).toEqual([digest, null]);
      expect(await archive.digestOfCid(neighbour)).toBe(contentDigest(texts[0] ?? payload));
    });

    it.each(['', digest, '../bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y'])(
      'finds no payload for %j, which is not a CID',
      async (name) => {
        expect(await archive.digestOfCid(name)).toBeNull();
        await expect(archive.nameByCid(name, digest)).rejects.toThrow(Error);
      },
    );

    it.each([
      '',
      '../../format',
      'a'.repeat(42),
      'a'.repeat(44),
      `${'a'.repeat(42)}/`,
      `${'a'.repeat(42)}\n`,
      `${'a'.repeat(43)}\n`,
      '%2e',
    ])('has nothing for %j, which is not a digest', async (name) => {
      expect(await seen(name)).toEqual([null, null]);
      expect(await archive.publish(name, ONE)).toBeNull();
      await expect(archive.stage(name, payload, { ...ONE, expiresAt: at(60) })).rejects.toThrow(Error);
    });
  });
};
