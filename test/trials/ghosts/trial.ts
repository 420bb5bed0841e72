import { setTimeout as sleep } from 'node:timers/promises';

import type { Draw } from '../../simulation/draw.js';
import { type Case, casesFrom } from './cases.js';
import { type Ghosts, ghostsOn } from './client.js';
import { differenceOf, type Played } from './difference.js';
import type { TrialServers, Victim } from './servers.js';

/** The time without kills between two kills, in milliseconds. */
const QUIET_MS = { least: 1_000, most: 20_000 } as const;
/** How long sessions may take from the first kill on, beyond the time of the kills, in milliseconds. */
const END_WITHIN_MS = 1_800_000;

export type TrialPlan = { readonly sessions: number; readonly minutes: number; readonly steps: number };
export type Counts = { sessions: number; steps: number; readonly kills: Map<string, number> };

/**
 * Plays each case undisturbed, then this many concurrent sessions while victims are killed; one that ends before the time is over is followed by another.
 * Each must equal the undisturbed session of its case.
 * @param say gets lines for a person who watches
 * @throws Error with the first difference, or when a session or a server does not come back
 */
export const runTrial = async (
  servers: TrialServers,
  { sessions, minutes, steps }: TrialPlan,
  draw: Draw,
  say: (line: string) => void,
): Promise<Counts> => {
  const ghosts = ghostsOn(() => servers.api());
  const wanted = await undisturbed(ghosts, casesFrom(draw.fork('cases'), steps));
  say(`${String(wanted.length)} sessions played undisturbed, ${String(stepsIn(wanted))} steps.`);
  const counts: Counts = { sessions: 0, steps: 0, kills: new Map() };
  const untilMs = performance.now() + minutes * 60_000;
  const stop = new AbortController();
  const playOn = async (place: number): Promise<void> => {
    for (let n = place; !stop.signal.aborted && (n === place || performance.now() < untilMs); n += sessions) {
      await playOne(ghosts, wanted[n % wanted.length], n, untilMs + END_WITHIN_MS, counts);
    }
  };
  const all = [
    killUntil(servers.victims, draw.fork('kills'), { untilMs, counts, signal: stop.signal, say }),
    ...Array.from({ length: sessions }, (_, place) => playOn(place)),
  ];
  await Promise.all(all).finally(() => stop.abort());
  return counts;
};

type Undisturbed = Case & { readonly played: Played };
const stepsIn = (wanted: readonly Undisturbed[]): number =>
  wanted.reduce((sum, { played }) => sum + played.steps.length, 0);

const undisturbed = (ghosts: Ghosts, cases: readonly Case[]): Promise<readonly Undisturbed[]> =>
  Promise.all(
    cases.map(async (wanted, n) => {
      const id = await ghosts.begin(wanted, `undisturbed-${String(n)}`);
      return { ...wanted, played: await ghosts.played(id, performance.now() + END_WITHIN_MS) };
    }),
  );

const playOne = async (
  ghosts: Ghosts,
  wanted: Undisturbed | undefined,
  n: number,
  lateMs: number,
  counts: Counts,
): Promise<void> => {
  if (wanted === undefined) throw new Error('there are no cases');
  const { played, ...asked } = wanted;
  const id = await ghosts.begin(asked, `killed-${String(n)}`);
  const got = await ghosts.played(id, lateMs);
  const difference = differenceOf(played, got);
  if (difference !== null) throw new Error(`${id} (${JSON.stringify(asked)}): ${difference}`);
  counts.sessions += 1;
  counts.steps += got.steps.length;
};

type Killing = {
  readonly untilMs: number;
  readonly counts: Counts;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
};

const killUntil = async (
  victims: readonly [Victim, ...Victim[]],
  draw: Draw,
  { untilMs, counts, signal, say }: Killing,
): Promise<void> => {
  for (;;) {
    await sleep(draw.between(QUIET_MS.least, QUIET_MS.most), undefined, { signal }).catch(() => undefined);
    if (signal.aborted || performance.now() >= untilMs) return;
    const victim = draw.pick(victims);
    const { name } = victim;
    const beganMs = performance.now();
    await victim.killAndRestart();
    counts.kills.set(name, (counts.kills.get(name) ?? 0) + 1);
    const backMs = performance.now() - beganMs;
    say(`killed: ${name}, back after ${(backMs / 1_000).toFixed(1)} s; ${String(counts.sessions)} sessions are over.`);
  }
};
