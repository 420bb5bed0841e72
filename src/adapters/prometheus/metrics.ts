import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { within } from '../shared/within.js';
import type { CountedThing, Metrics } from '../../ports/metrics.js';

/** Upper bounds in seconds: a step takes milliseconds, and clients give up after 15 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** How long reading a figure may take, in milliseconds. Its source may be down, and scrapes give up after some seconds. */
export const GAUGE_TIMEOUT_MS = 1_000;

/** A figure that is read when the metrics are requested; null while there is none. */
export type FigureReading = {
  readonly name: string;
  /** Whether it only grows, until the process ends. */
  readonly isCounter?: true;
  readonly help: string;
  readonly read: () => Promise<number | null>;
};

/** The figure, or null if there is none, or it cannot be read in time. */
const readInTime = ({ read }: FigureReading): Promise<number | null> =>
  within(
    GAUGE_TIMEOUT_MS,
    read().catch(() => null),
  );

/** How many kinds of one thing are told apart; the others are counted together, as OTHER_KIND. */
const MOST_KINDS = 100;
const OTHER_KIND = 'other';

const counters: Readonly<
  Record<CountedThing, { readonly name: string; readonly help: string; readonly kind?: string }>
> = {
  verdicts: { name: 'anima_verdicts_total', help: 'Turns that ended, by how they ended.', kind: 'outcome' },
  ruleRefusals: { name: 'anima_rule_refusals_total', help: 'Actions that a rule refused.' },
  handOnFailures: {
    name: 'anima_checkpoint_hand_on_failures_total',
    help: 'How often checkpoints could not be published.',
  },
  accessesDropped: {
    name: 'anima_accesses_dropped_total',
    help: 'Accesses to histories that could not be recorded.',
  },
  brokenEvents: {
    name: 'anima_broken_events_total',
    help: 'Stored events that are not what was recorded, about which nothing was signed.',
  },
  tooManyRequests: { name: 'anima_too_many_requests_total', help: 'Requests answered with 429, by key.', kind: 'key' },
};

/** One counter for each thing, from 0 where it has no kinds. */
const openCounters = (register: Registry): Metrics['count'] => {
  const open = (what: CountedThing) => {
    const { name, help, kind } = counters[what];
    const labelNames = kind === undefined ? [] : [kind];
    return { counter: new Counter({ name, help, labelNames, registers: [register] }), kinds: new Set<string>() };
  };
  const all = new Map(Object.keys(counters).map((what) => [what, open(what as CountedThing)]));
  return (what, kind) => {
    const known = all.get(what);
    if (known === undefined) return;
    const { counter, kinds } = known;
    if (kind === undefined) counter.inc();
    else {
      if (kinds.size < MOST_KINDS) kinds.add(kind);
      counter.labels(kinds.has(kind) ? kind : OTHER_KIND).inc();
    }
  };
};

/**
 * The registry of one server: Node's process metrics, the given gauges, one histogram of requests by operation and status, and one of the worker's
 * tasks, and what is counted. A figure that has no value is left out of the answer.
 */
export const createMetrics = (figures: readonly FigureReading[] = []): Metrics => {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const figure of figures) {
    const { name, help } = figure;
    if (figure.isCounter)
      new Counter({
        ...{ name, help, registers: [register] },
        async collect() {
          const value = await readInTime(figure);
          this.reset();
          if (value === null) this.remove();
          else this.inc(value);
        },
      });
    else
      new Gauge({
        ...{ name, help, registers: [register] },
        async collect() {
          const value = await readInTime(figure);
          if (value === null) this.remove();
          else this.set(value);
        },
      });
  }
  const requests = new Histogram({
    name: 'anima_http_request_duration_seconds',
    help: 'Time from the headers of a request to its response.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [register],
  });
  const work = new Histogram({
    name: 'anima_worker_task_duration_seconds',
    help: 'What the worker of this process has done, and how long it took.',
    labelNames: ['task', 'process', 'outcome'],
    buckets: BUCKETS,
    registers: [register],
  });
  // Checking and ordering labels costs more than counting, so each pair is looked up once.
  const observers = new Map<string, Map<number, { observe(seconds: number): void }>>();
  return {
    begin: () => performance.now(),
    request(operation, status, begun) {
      let byStatus = observers.get(operation);
      if (byStatus === undefined)
        observers.set(operation, (byStatus = new Map<number, { observe(seconds: number): void }>()));
      let observer = byStatus.get(status);
      if (observer === undefined) byStatus.set(status, (observer = requests.labels(operation, String(status))));
      observer.observe((performance.now() - begun) / 1000);
    },
    work: (task, process, outcome, begun) =>
      work.labels(task, process, outcome).observe((performance.now() - begun) / 1000),
    count: openCounters(register),
    render: async () => ({ type: register.contentType, content: await register.metrics() }),
  };
};
