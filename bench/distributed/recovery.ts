import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { readState } from '../../scripts/servers/state.js';
import { cleanUpAtExit, temporaryDirectory } from '../cleanup.js';
import type { Server } from '../server.js';
import { ownNamespace } from './addresses.js';
import { type Answers, noAnswers, playRetrying } from './retrying-body.js';
import { type Roles, startRoles } from './roles.js';

const STEPS = 4;
const MINDS = 400;
/** The number of concurrent turns while the capacity is measured. */
const CLOSED_LOOP = 32;
/** The share of the capacity that is requested. */
const SHARE = 0.8;
/** How long each phase takes, in seconds. */
const WARM = 10;
const OUTAGE = '20';
const AFTER = 40;
/** Goodput has recovered when this share of the requests is answered, over this many seconds. */
const BACK = 0.9;
const WINDOW = 3;

type Fleet = { readonly http: Server[]; readonly workers: Server[] };
type Outage = { readonly name: string; begin(): Promise<void>; end(): Promise<void> };

/** The directory of the servers that `npm run servers` started here. */
const directory = (): string => resolve(process.env['ANIMA_SERVERS_DIR'] ?? '.servers');

const servers = async (verb: 'kill' | 'restart', name: string): Promise<void> => {
  // If an address is given, the command would leave the event store to its operator.
  const { EVENTSTORE_URL: _, ...env } = process.env;
  const child = spawn('npm', ['run', '--silent', 'servers', '--', verb, name], {
    env: { ...env, ANIMA_SERVERS_DIR: directory() },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${verb} ${name} failed`);
};

const signalTo = async (name: 'temporal' | 'eventstore', signal: NodeJS.Signals): Promise<void> => {
  const pid = (await readState(directory()))[name]?.process?.pid;
  if (pid === undefined) throw new Error(`${name} does not run`);
  process.kill(pid, signal);
};

const outagesOf = (roles: Roles, { http, workers }: Fleet): readonly Outage[] => {
  const killed = (name: 'temporal' | 'eventstore' | 'kafka' | 'postgres'): Outage => ({
    name: `${name} killed`,
    begin: () => servers('kill', name),
    end: () => servers('restart', name),
  });
  const frozen = (name: 'temporal' | 'eventstore'): Outage => ({
    name: `${name} frozen`,
    begin: () => signalTo(name, 'SIGSTOP'),
    end: () => signalTo(name, 'SIGCONT'),
  });
  const processes = (name: string, role: string, list: Server[], count: number): Outage => ({
    name,
    begin: () => {
      for (const { pid } of list.splice(0, count)) process.kill(pid, 'SIGKILL');
      return Promise.resolve();
    },
    end: async () => {
      list.push(...(await Promise.all(Array.from({ length: count }, () => roles.start(role)))));
    },
  });
  return [
    processes('both workers killed', 'worker', workers, 2),
    processes('one of two workers killed', 'worker', workers, 1),
    processes('one of two http processes killed', 'http', http, 1),
    killed('temporal'),
    frozen('temporal'),
    killed('eventstore'),
    frozen('eventstore'),
    killed('kafka'),
    killed('postgres'),
  ];
};

/** Stops parts one after the other, and prints how long after each outage the goodput recovered. */
const drill = async (parts: readonly string[], seconds: number): Promise<void> => {
  await using data = await temporaryDirectory();
  await using roles = await startRoles(ownNamespace(), data.path, ['projector', 'relay']);
  const [http, workers] = await Promise.all(
    ['http', 'worker'].map((role) => Promise.all([roles.start(role), roles.start(role)])),
  );
  const fleet: Fleet = { http: [...(http ?? [])], workers: [...(workers ?? [])] };
  try {
    const perSecond = SHARE * (await capacityOf(roles, fleet));
    console.log(
      `Load: ${perSecond.toFixed(1)} turns/s, 80 % of the measured capacity. Each outage lasts ${String(seconds)} s.`,
    );
    for (const outage of outagesOf(roles, fleet)) {
      const isWanted = parts.length === 0 || parts.some((part) => outage.name.includes(part));
      if (isWanted) console.log(await recoveryFrom(outage, roles, fleet, { perSecond, seconds }));
    }
  } finally {
    for (const server of [...fleet.http, ...fleet.workers]) await server[Symbol.asyncDispose]();
  }
};

let moments = 0;

const playOne = (roles: Roles, { http }: Fleet, answers: Answers): Promise<void> => {
  moments += 1;
  return playRetrying(() => http.map(({ url }) => url), roles.key, { mind: moments % MINDS, moment: moments }, answers);
};

/** Turns per second, each begun when the previous one has ended. */
const capacityOf = async (roles: Roles, fleet: Fleet): Promise<number> => {
  const during = async (seconds: number): Promise<number> => {
    const answers = noAnswers();
    const untilMs = performance.now() + seconds * 1_000;
    await Promise.all(
      Array.from({ length: CLOSED_LOOP }, async () => {
        while (performance.now() < untilMs) await playOne(roles, fleet, answers);
      }),
    );
    return answers.turns / seconds;
  };
  await during(WARM);
  return during(WARM);
};

const recoveryFrom = async (
  outage: Outage,
  roles: Roles,
  fleet: Fleet,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<string> => {
  const answers = noAnswers();
  const playing = new Set<Promise<void>>();
  const counts: number[] = [];
  let begun = 0;
  let ended = false;
  const beganMs = performance.now();
  const offer = async (): Promise<void> => {
    while (!ended) {
      const due = ((performance.now() - beganMs) / 1_000) * perSecond;
      for (; begun < due; begun += 1) {
        const turn: Promise<void> = playOne(roles, fleet, answers).finally(() => playing.delete(turn));
        playing.add(turn);
      }
      await sleep(10);
    }
  };
  const count = async (): Promise<void> => {
    for (let before = 0; !ended; before = answers.ok) {
      await sleep(1_000);
      counts.push(answers.ok - before);
    }
  };
  const running = Promise.all([offer(), count()]);
  await sleep(WARM * 1_000);
  await outage.begin();
  await sleep(seconds * 1_000);
  const endMs = performance.now();
  await outage.end();
  const backMs = performance.now();
  await sleep(AFTER * 1_000);
  ended = true;
  await running;
  await Promise.all(playing);
  const returned = Math.ceil((backMs - beganMs) / 1_000);
  const goal = BACK * perSecond * STEPS;
  const after = counts.slice(returned);
  const secondsWithout = [...new Set(answers.unansweredMs.map((ms) => Math.floor((ms - beganMs) / 1_000)))];
  const unanswered =
    secondsWithout.length === 0 ? '' : ` sent in the seconds ${secondsWithout.toSorted((a, b) => a - b).join(' ')}`;
  const at = after.findIndex((_, n) => mean(after.slice(n, n + WINDOW)) >= goal);
  return (
    `${outage.name}: goodput back at 90 % ${at < 0 ? `**not within ${String(AFTER)} s**` : `${String(at)} s`} after its return ` +
    `(which took ${((backMs - endMs) / 1_000).toFixed(1)} s); ${String(answers.turns)} turns of ${String(begun)} ended, ` +
    `${String(answers.givenUp)} given up, ${String(answers.later)} answers "later", none of ${JSON.stringify(answers.failed)}${unanswered}. ` +
    `Steps in each second: ${counts.join(' ')}.`
  );
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: OUTAGE } },
});
cleanUpAtExit();
// Parts of the names of outages; without any, all of them.
await drill(positionals, Number(values.seconds));
