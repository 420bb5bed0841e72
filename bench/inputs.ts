import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { milliseconds, type PartReport } from './report.js';
import { spreadOf } from './rounds.js';
import { MAIN, settled, start } from './server.js';

const PROBE = fileURLToPath(new URL('./loop-probe.js', import.meta.url));
/** What nothing legal holds the event loop for, besides one JSON.parse, in milliseconds. */
const GOAL_MS = 20;
/** How long a figure of the probe is waited for, and how often it is looked for, in milliseconds. */
const TOLD_MS = 5_000;
const LOOK_MS = 5;

type Send = (path: string, body: object) => Promise<{ readonly status: number; readonly body: unknown }>;
/** A request: it may send others first. `npcId` is new in each round. */
type Input = (npcId: string, send: Send) => Promise<{ readonly path: string; readonly body: object }>;

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`member ${n}`, n]));
const differing = (chars: number): string =>
  Array.from({ length: chars / 10 }, (_, n) => `word ${100_000 + n}`)
    .join('')
    .slice(0, chars);
const memories = Array.from({ length: 990 }, (_, n) => ({
  ...{ text: `${n} ${'a stranger paid in gold '.repeat(19)}`, type: 'experience', importance: 0.5, similarity: 0.5 },
}));

const afterActor = async (npcId: string, send: Send): Promise<object> => {
  const path = `/npcs/${npcId}/process`;
  const { tape } = (await send(path, { tape: { observation: 'Well?' } })).body as { tape: object };
  const lastResult = { type: 'IdentifyActorResult', actor: { npcId, persona: 'An innkeeper.', data: {} } };
  return ((await send(path, { tape, lastResult })).body as { tape: object }).tape;
};

/** The largest inputs of the routes that record what a body sends: as many values, as many bytes, and the characters that cost the most. */
const INPUTS: Readonly<Record<string, Input>> = {
  'a step, 9,900 members of npcState': async (npcId) => ({
    path: `/npcs/${npcId}/process`,
    body: { tape: { observation: 'Well?', npcState: members(9_900) } },
  }),
  'a step, 500 kB of words that differ': async (npcId) => ({
    path: `/npcs/${npcId}/process`,
    body: { tape: { observation: differing(500_000) } },
  }),
  'a step, 170,000 characters that become eighteen each': async (npcId) => ({
    path: `/npcs/${npcId}/process`,
    body: { tape: { observation: 'ﷺ'.repeat(170_000) } },
  }),
  'a step, 990 memories of 460 bytes': async (npcId, send) => ({
    path: `/npcs/${npcId}/process`,
    body: { tape: await afterActor(npcId, send), lastResult: { type: 'QueryVectorResult', memories } },
  }),
  'a directive, 9,900 members': async (npcId) => ({
    path: `/npcs/${npcId}/directive`,
    body: { observation: 'Well?', npcState: members(9_900) },
  }),
  'a context, 990 memories of 460 bytes': async (npcId) => ({
    path: `/npcs/${npcId}/context`,
    body: { observation: 'Well?', memories },
  }),
  'a verdict on 500,000 braces': async (npcId) => ({
    path: `/npcs/${npcId}/verdict`,
    body: { observation: 'Well?', generatedOutput: '{'.repeat(500_000) },
  }),
  'a registration, 9,900 members of data': async (npcId) => ({
    path: '/npcs',
    body: { npcId, data: members(9_900) },
  }),
  'a registration, a persona of 500 kB': async (npcId) => ({
    path: '/npcs',
    body: { npcId, persona: differing(500_000) },
  }),
};

/** The least of some tries: what else the process had to do counts in the others. */
const leastMs = async (tries: number, measure: (at: number) => Promise<number>): Promise<number> => {
  let least = Infinity;
  for (let at = 0; at < tries; at += 1) least = Math.min(least, await measure(at));
  return least;
};

/** How long the largest requests hold the event loop, with all that follows from them, against one JSON.parse of the same body. */
export const measureInputs = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  const told = join(directory.path, 'loop');
  await using server = await start(MAIN, {
    ...{ ANIMA_DATA_DIR: directory.path, ANIMA_RATE_LIMIT: 'off' },
    ...{ NODE_OPTIONS: `--import=${PROBE}`, ANIMA_BENCH_LOOP: told },
  });
  const key = (await readFile(join(directory.path, 'owner-key'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send: Send = async (path, body) => {
    const reply = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${(await reply.text()).slice(0, 200)}`);
    return { status: reply.status, body: await reply.json() };
  };
  /** What the probe has noted since it was asked last. */
  const held = async (): Promise<number> => {
    await rm(told, { force: true });
    process.kill(server.pid, 'SIGUSR2');
    for (const late = performance.now() + TOLD_MS; performance.now() < late;) {
      const text = await readFile(told, 'utf8').catch(() => '');
      if (text !== '') return Number(text);
      await sleep(LOOK_MS);
    }
    throw new Error('the probe in the server does not answer');
  };
  const figures: PartReport['figures'][number][] = [];
  for (const [place, [what, input]] of Object.entries(INPUTS).entries()) {
    const once = async (at: number): Promise<{ readonly hold: number; readonly parse: number }> => {
      const { path, body } = await input(`npc-${place}-${at}`, send);
      const text = JSON.stringify(body);
      const began = performance.now();
      JSON.parse(text);
      const parse = performance.now() - began;
      await settled(server);
      await held();
      await send(path, body);
      await settled(server);
      return { hold: await held(), parse };
    };
    const tries: { readonly hold: number; readonly parse: number }[] = [];
    const hold = await leastMs(2 * effort.rounds, async (at) => {
      tries.push(await once(at));
      return tries.at(-1)?.hold ?? Infinity;
    });
    const parse = Math.min(...tries.map((one) => one.parse));
    figures.push({
      what,
      ours: milliseconds(hold),
      reference: milliseconds(parse),
      ratio: spreadOf(tries.map((one) => one.hold / one.parse)),
      goal: { text: `≤ ${GOAL_MS} ms and one JSON.parse`, met: hold <= GOAL_MS + parse },
    });
  }
  const tries = `Ours and the reference are the least of ${2 * effort.rounds} tries: garbage collection and the file system count in the others.`;
  return { figures, remarks: [tries] };
};
