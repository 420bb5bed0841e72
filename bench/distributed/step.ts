import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';

import { openConnection } from '../../src/adapters/temporal/connection.js';
import type { Effort } from '../effort.js';
import { milliseconds, type PartReport, whole } from '../report.js';
import { quantile, ratioOf, spreadOf } from '../rounds.js';
import { start } from '../server.js';
import { turnInputs } from '../turn-history.js';
import { addresses, ownNamespace } from './addresses.js';
import { openTurnRuntime, type Runner, TURN_MS, turnsOn, WORKER } from './turn-runtime.js';

/** The number of concurrent turns. */
const TURNS = 32;
const GOAL = 0.95;

type Measured = { readonly perSecond: number; readonly p50: number };

/** Runs turn after turn, `TURNS` at a time. */
const measure = async (run: Runner, seconds: number): Promise<Measured> => {
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  let turns = 0;
  await Promise.all(
    Array.from({ length: TURNS }, async () => {
      while (performance.now() < until) {
        await run((turns += 1), async (step) => {
          const from = performance.now();
          await step();
          latencies.push(performance.now() - from);
        });
      }
    }),
  );
  const elapsed = performance.now() - began;
  return {
    perSecond: (latencies.length * 1_000) / elapsed,
    p50: quantile(
      latencies.sort((a, b) => a - b),
      0.5,
    ),
  };
};

/** Steps of turns through the product's runtime, against bare updates of as many workflows with the same payloads, on the same Temporal server. */
export const measureSteps = async (effort: Effort): Promise<PartReport> => {
  const namespace = ownNamespace();
  const env = addresses();
  await using worker = await start(WORKER, { ...env, BENCH_NAMESPACE: namespace });
  await using wholeRuntime = openTurnRuntime(env.TEMPORAL_ADDRESS, `${namespace}-whole`);
  await using bareRuntime = openTurnRuntime(env.TEMPORAL_ADDRESS, `${namespace}-runtime`);
  const connection = openConnection({ address: env.TEMPORAL_ADDRESS });
  const client = new Client({ connection });
  let runs = 0;

  const bare = (workflow: string): Runner => {
    runs += 1;
    const series = String(runs);
    return async (number, at) => {
      const workflowId = `${namespace}-bare-${series}-${String(number)}`;
      for (const input of turnInputs(number, workflowId, new Date(Date.now() + TURN_MS).toISOString())) {
        const startWorkflowOperation = new WithStartWorkflowOperation<Workflow>(workflow, {
          workflowId,
          taskQueue: `${namespace}-bare`,
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
        await at(() =>
          client.workflow.executeUpdateWithStart<Workflow, unknown, [unknown]>('step', {
            args: [input],
            startWorkflowOperation,
          }),
        );
      }
    };
  };

  const kinds = {
    whole: () => measure(turnsOn(wholeRuntime, (runs += 1)), effort.seconds),
    runtime: () => measure(turnsOn(bareRuntime, (runs += 1)), effort.seconds),
    activity: () => measure(bare('bareLocalActivity'), effort.seconds),
    update: () => measure(bare('bareUpdate'), effort.seconds),
  };
  type Kind = keyof typeof kinds;
  const names = Object.keys(kinds) as Kind[];
  const rounds: Record<Kind, Measured>[] = [];
  try {
    for (const name of names) await kinds[name]();
    for (let round = 0; round < effort.rounds; round += 1) {
      const measured: Partial<Record<Kind, Measured>> = {};
      // Each comes first in some round, so that none always finds the machine as the same other one left it.
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(turn + round) % names.length];
        if (name !== undefined) measured[name] = await kinds[name]();
      }
      rounds.push(measured as Record<Kind, Measured>);
    }
  } finally {
    await connection.close();
    await worker[Symbol.asyncDispose]();
  }
  const rate = (kind: Kind): string =>
    `${whole(spreadOf(rounds.map((round) => round[kind].perSecond)).median)} steps/s`;
  const ratio = (ours: Kind, reference: Kind) =>
    ratioOf(rounds.map((round) => ({ ours: round[ours].perSecond, reference: round[reference].perSecond })));
  const figure = (what: string, ours: Kind, reference: Kind, named: string, hasGoal: boolean) => ({
    what,
    ours: rate(ours),
    reference: `${named}: ${rate(reference)}`,
    ratio: ratio(ours, reference),
    goal: hasGoal ? { text: `≥ ${String(GOAL)}`, met: ratio(ours, reference).median >= GOAL } : null,
  });
  const p50 = (kind: Kind): string => milliseconds(spreadOf(rounds.map((round) => round[kind].p50)).median);
  return {
    figures: [
      figure('step of a turn', 'whole', 'activity', 'bare update with a local activity', true),
      figure('step of a turn', 'whole', 'update', 'bare update', false),
      figure('the same, events in memory', 'runtime', 'activity', 'bare update with a local activity', false),
    ],
    remarks: [
      `Steps: ${String(TURNS)} turns at the same time; the median step took ${p50('whole')}, with events in memory ${p50('runtime')}, ` +
        `a bare update with a local activity ${p50('activity')}, a bare update ${p50('update')}.`,
    ],
  };
};
