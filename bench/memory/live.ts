import { cp } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { p99OfLiveSteps, STEPS_PER_SECOND } from '../live-steps.js';
import { milliseconds, type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { type MindServer, startMindServer } from '../server.js';
import { fillMemories } from './fill.js';

/** How many minds have memories. */
const REMEMBERING = 100;
const GOAL = 2;
/** How long a server may take to embed its first texts, and how often it is polled, in milliseconds. */
const BEGIN_MS = 60_000;
const LOOK_MS = 100;

const metric = async ({ url }: MindServer, name: string): Promise<number> => {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text());
  return Number(found?.[1] ?? 0);
};

const untilEmbedding = async (server: MindServer): Promise<void> => {
  for (let waited = 0; waited < BEGIN_MS; waited += LOOK_MS) {
    if ((await metric(server, 'anima_embedded_texts_total')) > 0) return;
    await sleep(LOOK_MS);
  }
  throw new Error('the server embeds nothing');
};

/** The p99 of steps on a copy of a data directory. @param embedding whether texts must be embedded all the while */
const stepsOn = async (prepared: string, effort: Effort, embedding: boolean): Promise<number> => {
  await using directory = await temporaryDirectory();
  await cp(prepared, directory.path, { recursive: true });
  await using server = await startMindServer(directory.path);
  if (embedding) await untilEmbedding(server);
  const p99 = await p99OfLiveSteps(server, effort.warmUpSeconds, effort.liveSeconds);
  const left = await metric(server, 'anima_embedding_pending_texts');
  if (embedding !== left > 0) throw new Error(`${left} texts are left to embed`);
  return p99;
};

/** The p99 of live steps while many texts are embedded in the background, against the same with nothing to embed. */
export const measureLive = async (effort: Effort): Promise<PartReport> => {
  await using lacking = await temporaryDirectory();
  await using embedded = await temporaryDirectory();
  const each = Math.ceil(effort.embedTexts / REMEMBERING);
  await fillMemories(lacking.path, { minds: REMEMBERING, each, embedded: false });
  await fillMemories(embedded.path, { minds: REMEMBERING, each, embedded: true });
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => stepsOn(lacking.path, effort, true),
        () => stepsOn(embedded.path, effort, false),
      ),
    );
  }
  const p99 = spreadOf(pairs.map(({ ours }) => ours));
  const ratio = ratioOf(pairs);
  return {
    figures: [
      {
        what: `p99 of live steps while ${whole(each * REMEMBERING)} texts are embedded`,
        ours: milliseconds(p99.median),
        reference: `nothing to embed: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio,
        goal: { text: `≤ ${GOAL}`, met: ratio.median <= GOAL },
      },
    ],
    remarks: [
      `Live steps: ${whole(STEPS_PER_SECOND)} a second for ${effort.liveSeconds} s; the highest p99 of a round was ${milliseconds(p99.max)}.`,
    ],
  };
};
