import { describe, expect, it } from 'vitest';

import { parseConfig } from '../../src/config/config.js';
import { openArchives } from '../../src/server/archives.js';
import { rememberingLog } from '../support/http.js';
import { openLoopbackServer } from '../support/loopback-server.js';
import { ManualClock } from '../support/manual-clock.js';

const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';
const txId = 'A'.repeat(43);

describe('the archives of the settings', () => {
  it('are asked for a payload in their order, by the form of its id [8.5g]', async () => {
    await using server = await openLoopbackServer();
    server.answer(({ path }, response) => {
      if (path.startsWith('/api/')) response.writeHead(500).end('{"Message":"merkledag: not found"}');
      else response.writeHead(404).end();
    });
    const env = {
      IPFS_API_URL: server.url,
      IPFS_GATEWAY_URL: `${server.url}/ipfs`,
      ARWEAVE_GATEWAY_URL: `${server.url}/arweave`,
      ANIMA_SOUL_GATEWAYS: `${server.url}/one ${server.url}/two`,
    };
    const { archives } = parseConfig(env, '/srv');
    const { gateways } = openArchives(archives, { clock: new ManualClock(), log: rememberingLog() });
    const askedFor = async (id: string): Promise<readonly string[]> => {
      const before = server.seen.length;
      expect(await gateways.find(id, 'studio')).toBeNull();
      return server.seen.slice(before).map(({ path }) => path);
    };
    expect(await askedFor(cid)).toEqual([
      expect.stringMatching(new RegExp(`^/api/v0/.*${cid}`)),
      `/ipfs/${cid}`,
      `/one/${cid}`,
      `/two/${cid}`,
    ]);
    expect(await askedFor(txId)).toEqual([`/arweave/${txId}`, `/one/${txId}`, `/two/${txId}`]);
    expect(await askedFor('m1')).toEqual([]);
  });
});
