import { readFile } from 'node:fs/promises';

import type { MindServer } from '../server.js';

const MARKET = new URL('../../levels/market.tmj', import.meta.url);
/** Sessions play until the server is stopped. */
const STEPS = 1_000_000;
const TIMEOUT_MS = 86_400_000;

type Layered = { readonly layers: readonly { readonly name: string }[] };

const asked = async ({ url, key }: MindServer, method: string, path: string, body?: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.json();
};

/** Begins this many sessions, which hunt bugs on a market without dangers, where no ghost dies. @returns their ids */
export const beginSessions = async (server: MindServer, count: number): Promise<readonly string[]> => {
  const market = JSON.parse(await readFile(MARKET, 'utf8')) as Layered;
  const calm = { ...market, layers: market.layers.filter(({ name }) => name !== 'dangers') };
  await asked(server, 'PUT', '/levels/calm', calm);
  const ids: string[] = [];
  for (let seed = 0; seed < count; seed += 1) {
    const wanted = { goal: 'find_bugs', level: 'calm', seed, steps: STEPS, timeout: TIMEOUT_MS };
    ids.push(((await asked(server, 'POST', '/v1/ghost/run', wanted)) as { id: string }).id);
  }
  return ids;
};

/** How many steps these sessions have recorded. @throws Error if one of them has stopped playing */
export const stepsOfSessions = async (server: MindServer, ids: readonly string[]): Promise<number> => {
  let steps = 0;
  for (const id of ids) {
    const told = await asked(server, 'GET', `/ghost/${id}/status`);
    const { ghostStatus, ghostStep } = told as { ghostStatus: string; ghostStep: number };
    if (ghostStatus !== 'running' && ghostStatus !== 'pending') throw new Error(`${id} is ${ghostStatus}`);
    steps += ghostStep;
  }
  return steps;
};
