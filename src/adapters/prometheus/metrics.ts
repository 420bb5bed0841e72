import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

import { within } from '../shared/within.js';
import type { Metrics } from '../../ports/metrics.js';

/** Upper bounds in seconds: a step takes milliseconds, and clients give up after 15 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** How long reading a figure may take, in milliseconds. Its source may be down, and scrapes give up after some seconds. */
export const GAUGE_TIMEOUT_MS = 1_000;

/** A figure that is read when the metrics are requested; null while there is none. */
export type GaugeReading = {
  readonly name: string;
  readonly help: string;
  readonly read: () => Promise<number | null>;
};

/** The figure, or null if there is none, or it cannot be read in time. */
const readInTime = ({ read }: GaugeReading): Promise<number | null> =>
  within(
    GAUGE_TIMEOUT_MS,
    read().catch(() => null),
  );

/**
 * The registry of one server: Node's process metrics, the given gauges, one histogram of requests by operation and status, and one of the worker's
 * tasks. A gauge without a figure is left out of the answer.
 */
export const createMetrics = (gauges: readonly GaugeReading[] = []): Metrics => {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const gauge of gauges) {
    new Gauge({
      name: gauge.name,
      help: gauge.help,
      registers: [register],
      async collect() {
        const value = await readInTime(gauge);
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
    render: async () => ({ type: register.contentType, content: await register.metrics() }),
  };
};
