import { expect, it } from 'vitest';

import { inSlices } from '../../src/kernel/concurrency/in-slices.js';
import { ipfsCid } from '../../src/kernel/crypto/ipfs-cid.js';
import { apiOf, codeOf } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { openLoopbackServer } from '../support/loopback-server.js';

/** The file in a body of multipart/form-data with only that part. */
const fileIn = (body: Buffer): Buffer =>
  body.subarray(body.indexOf('\r\n\r\n') + 4, body.lastIndexOf('\r\n--', body.length - 6));

it('continues an export after its request was refused because the IPFS node was down', async () => {
  await using node = await openLoopbackServer();
  let takes = false;
  node.answer(({ path, body }, response) => {
    if (!path.startsWith('/api/v0/add?')) response.end('{}');
    else if (takes) void inSlices(ipfsCid(fileIn(body))).then((cid) => response.end(JSON.stringify({ Hash: cid })));
    else response.writeHead(500).end('{"Message":"no space left","Code":0,"Type":"error"}');
  });
  await using server = await openEmbeddedServer({ IPFS_API_URL: node.url });
  const api = apiOf(server.url, server.ownerKey);
  expect((await api.post('/npcs', { npcId: 'mira' })).status).toBe(200);
  const key = { 'idempotency-key': 'one' };
  const ask = () => api.post('/v1/agents/mira/soul/export', { storage: 'ipfs' }, key);
  const refused = await ask();
  expect([refused.status, codeOf(refused)], refused.text).toEqual([503, 'ARCHIVE_UNAVAILABLE']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await api.get('/souls')).body).toEqual({ souls: [] });

  takes = true;
  const listed = async () => ((await api.get('/souls')).body as { souls: { txId: string }[] }).souls;
  await expect.poll(listed, { timeout: 60_000, interval: 200 }).toHaveLength(1);
  const [soul] = await listed();
  expect((await ask()).body).toMatchObject({ storage: 'ipfs', cid: soul?.txId });
  expect(await listed()).toHaveLength(1);
});
