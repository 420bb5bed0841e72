import { parseArgs } from 'node:util';

import { Draw } from '../../simulation/draw.js';
import { openTrialServers } from './servers.js';
import { runTrial } from './trial.js';

const usage =
  'npm run trial:ghosts -- [--profile embedded|distributed] [--sessions 200] [--minutes 10] [--steps 2000] [--seed 1]';
/** The number of concurrent sessions of one tenant, and of steps of one session. */
const MOST = { sessions: 200, minutes: 1_440, steps: 1_000_000, seed: 999_999_999 } as const;

const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'embedded' },
    sessions: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
    steps: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
});
const countOf = (name: keyof typeof MOST): number => {
  const text = values[name];
  const count = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(count <= MOST[name])) throw new Error(`--${name} is no number up to ${String(MOST[name])}: ${usage}`);
  return count;
};
const { profile } = values;
if (profile !== 'embedded' && profile !== 'distributed') throw new Error(`"${profile}" is no profile: ${usage}`);
const plan = { sessions: countOf('sessions'), minutes: countOf('minutes'), steps: countOf('steps') };
const seed = countOf('seed');

const beganMs = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - beganMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);

try {
  await using servers = await openTrialServers[profile]({
    LOG_LEVEL: 'info',
    ANIMA_GHOST_SHARE: process.env['ANIMA_GHOST_SHARE'] ?? '100',
  });
  const { sessions, steps, kills } = await runTrial(servers, plan, new Draw(String(seed)), say);
  const killed = [...kills].map(([name, times]) => `${name} ${String(times)} times`).join(', ');
  say(`Killed: ${killed || 'nothing'}. ${String(sessions)} sessions, ${String(steps)} steps: none lost, none doubled.`);
} catch (error) {
  console.error(error);
  console.error(
    `Once more: npm run trial:ghosts -- --profile ${profile} --seed ${String(seed)}, and what else was given`,
  );
  process.exitCode = 1;
}
