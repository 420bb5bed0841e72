import { EmbeddedSoulArchive } from '../../src/adapters/embedded/soul-archive.js';
import { contentDigest } from '../../src/kernel/crypto/content-digest.js';

/**
 * Archives endlessly to the folder named by the first argument, for the tenant named by the second. Writes a line `staged <n> <digest>` or
 * `published <n> <digest>` for everything acknowledged. Made to be killed.
 */
const [folder = '', tenant = ''] = process.argv.slice(2);
const PAYLOAD_BYTES = 512 * 1024;
const EXPIRES_AT = new Date(Date.UTC(2030, 0, 1));

const archive = await EmbeddedSoulArchive.open(folder, { error: () => undefined });
for (let n = 0; ; n += 1) {
  const bytes = Buffer.alloc(PAYLOAD_BYTES, `payload ${String(n)} `);
  const digest = contentDigest(bytes);
  await archive.stage(digest, bytes, { tenant, expiresAt: EXPIRES_AT });
  process.stdout.write(`staged ${String(n)} ${digest}\n`);
  await archive.publish(digest, { tenant, at: new Date() });
  process.stdout.write(`published ${String(n)} ${digest}\n`);
}
