import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { askProbe } from './ask-probe.js';
import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { heapFigure, type PartReport } from './report.js';
import { settled, startMindServer } from './server.js';

const PROBE = fileURLToPath(new URL('./heap-probe.js', import.meta.url));
/** The number of concurrent requests. */
const AT_ONCE = 16;

/**
 * The heap of a server after many requests whose answers are streams, half of them aborted by their client, against its heap after a tenth of them.
 */
export const measureHeap = async ({ heapRequests }: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  const told = join(directory.path, 'heap');
  const probed = { NODE_OPTIONS: `--import=${PROBE}`, ANIMA_BENCH_HEAP: told };
  await using server = await startMindServer(directory.path, probed);
  const headers = { authorization: `Bearer ${server.key}` };
  const body = JSON.stringify({ npcId: 'mira', persona: 'An innkeeper.' });
  const npc = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
  const made = await fetch(`${server.url}/npcs`, npc);
  if (!made.ok) throw new Error(`POST /npcs: ${made.status} ${await made.text()}`);
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  /** Follows the mind's events, and leaves at the first chunk; or reads its history to the end. */
  const stream = async (leaves: boolean): Promise<void> => {
    const path = leaves ? '/npcs/mira/events' : '/npcs/mira/history/export';
    const asked = request(`${server.url}${path}`, { headers, agent: leaves ? false : agent }).end();
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    if (reply.statusCode !== 200) throw new Error(`GET ${path}: ${String(reply.statusCode)}`);
    await once(reply.resume(), leaves ? 'data' : 'end');
    if (!leaves) return;
    reply.on('error', () => undefined);
    asked.destroy();
  };
  let sent = 0;
  const upTo = async (count: number): Promise<number> => {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (sent < count) await stream((sent += 1) % 2 === 0);
      }),
    );
    await settled(server);
    return askProbe(server, told);
  };
  const early = await upTo(heapRequests / 10);
  const late = await upTo(heapRequests);
  agent.destroy();
  return { figures: [heapFigure('streamed answers', heapRequests, { early, late })], remarks: [] };
};
