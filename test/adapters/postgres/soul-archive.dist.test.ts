import { describe, expect, it } from 'vitest';

import { PostgresSoulArchive } from '../../../src/adapters/postgres/soul-archive.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { soulArchiveContract } from '../../contracts/soul-archive.js';
import { TestSchema } from '../../support/postgres.js';

soulArchiveContract('The PostgreSQL adapter', async () => {
  const schema = new TestSchema();
  return { archive: new PostgresSoulArchive(schema.postgres), dispose: () => schema[Symbol.asyncDispose]() };
});

const payload = Buffer.from('{"name":"Mira"}');
const digest = contentDigest(payload);
const expiresAt = new Date(Date.UTC(2030, 0, 1));

describe('the archive in PostgreSQL', () => {
  it('is shared by all processes', async () => {
    await using schema = new TestSchema();
    const [one, other] = [new PostgresSoulArchive(schema.postgres), new PostgresSoulArchive(schema.again())];
    await one.stage(digest, payload, { tenant: 'studio', expiresAt });
    const said = await Promise.all(
      [one, other].map((archive) =>
        archive.publish(digest, { tenant: 'studio', at: new Date('2026-01-01T00:00:00Z') }),
      ),
    );
    expect(said.sort()).toEqual(['published', 'wasPublic']);
    expect(Buffer.from((await other.readPublic(digest)) ?? []).equals(payload)).toBe(true);
  });

  it('publishes one copy of what two tenants publish concurrently', async () => {
    await using schema = new TestSchema();
    const archives = [new PostgresSoulArchive(schema.postgres), new PostgresSoulArchive(schema.again())];
    const said = await Promise.all(
      archives.map(async (archive, n) => {
        const tenant = `studio-${String(n)}`;
        await archive.stage(digest, payload, { tenant, expiresAt });
        return archive.publish(digest, { tenant, at: new Date() });
      }),
    );
    expect(said.sort()).toEqual(['published', 'wasPublic']);
  });

  it('does not return damaged bytes', async () => {
    await using schema = new TestSchema();
    const archive = new PostgresSoulArchive(schema.postgres);
    await archive.stage(digest, payload, { tenant: 'studio', expiresAt });
    await schema.query(`UPDATE soul_archive SET bytes = 'other'`);
    expect(await archive.read(digest)).toBeNull();
  });
});
