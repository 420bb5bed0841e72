import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readState } from '../../scripts/servers/state.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { load } from '../load.js';
import { type PartReport, whole } from '../report.js';
import { spreadOf } from '../rounds.js';
import { pathOf, tapeAt } from '../scene.js';
import type { Server } from '../server.js';
import { turnRequests } from '../turns.js';
import { ownNamespace } from './addresses.js';
import { cpuSecondsOf } from './cpu-time.js';
import { startRoles } from './roles.js';

const REQUESTS = 4;
/**
 * How long the roles may take to start working, in milliseconds: a worker serves before it accepts work, and a relay begins with everything in the
 * store.
 */
const START_TIMEOUT_MS = 60_000;
const LOOK_MS = 200;
const ROLES = ['http', 'worker', 'relay', 'projector'];

/** The processes of the servers that `npm run servers` started, by name. */
const serverProcesses = async (): Promise<ReadonlyMap<string, number>> => {
  const state = await readState(resolve(process.env['ANIMA_SERVERS_DIR'] ?? '.servers'));
  return new Map(
    Object.entries(state).flatMap(([name, { process: running }]) =>
      running === undefined ? [] : [[name, running.pid]],
    ),
  );
};

/** Opens a turn and waits for it in the list of minds: every role is then at work and has caught up. @throws Error after a minute */
const untilAtWork = async ({ url }: Server, key: string): Promise<void> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const body = JSON.stringify({ tape: tapeAt(0) });
  const began = performance.now();
  while (performance.now() - began < START_TIMEOUT_MS) {
    await fetch(`${url}${pathOf(0, 'process')}`, { method: 'POST', headers, body });
    const listed = await fetch(`${url}/npcs`, { headers });
    if (listed.ok && ((await listed.json()) as readonly unknown[]).length > 0) return;
    await sleep(LOOK_MS);
  }
  throw new Error(`the roles of ${url} did not begin to work`);
};

/** The CPU time that complete turns over HTTP cost each part, with a process for each role. Linux only. */
export const measureCost = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  await using roles = await startRoles(ownNamespace(), directory.path, ROLES);
  const server = roles.processes.get('http');
  if (server === undefined) throw new Error('no process answers requests');
  const pids = new Map([
    ...[...roles.processes].map(([role, { pid }]) => [role, pid] as const),
    ...(await serverProcesses()),
  ]);
  const used = async (): Promise<ReadonlyMap<string, number>> => {
    const seconds = new Map<string, number>();
    for (const [name, pid] of pids) seconds.set(name, await cpuSecondsOf(pid));
    return seconds;
  };
  const run = (seconds: number) => load({ server, key: roles.key, seconds, connections: turnRequests() });
  await untilAtWork(server, roles.key);
  await run(effort.warmUpSeconds);
  const rates: number[] = [];
  let turns = 0;
  const before = await used();
  for (let round = 0; round < effort.rounds; round += 1) {
    const { perSecond, seconds } = await run(effort.seconds);
    rates.push(perSecond / REQUESTS);
    turns += (perSecond * seconds) / REQUESTS;
  }
  const after = await used();
  const costs = [...after].map(
    ([name, seconds]) => [name, ((seconds - (before.get(name) ?? 0)) * 1_000) / turns] as const,
  );
  const sum = costs.reduce((total, [, ms]) => total + ms, 0);
  const rate = spreadOf(rates);
  return {
    figures: [],
    remarks: [
      `Cost: ${whole(rate.median)} turns/s over HTTP (${whole(rate.min)}–${whole(rate.max)} over the rounds), with every role, every server and the load on this one machine. ` +
        `CPU time of one turn: ${costs.map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`).join(', ')}; together ${sum.toFixed(1)} ms.`,
    ],
  };
};
