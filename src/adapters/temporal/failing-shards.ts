import type { Shard } from '../../../workflows/temporal/process-batch.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { ProcessWorkflows } from './process-workflows.js';

/**
 * How often in a row a workflow's task was tried before its run counts as failing, as when its history cannot be replayed. A worker that was killed,
 * or was slow, costs a try or two.
 */
const FAILING_ATTEMPTS = 4;
/** How long a run must have been failing before it is ended, in milliseconds: a worker that can replay it takes the next try within this time. */
const FAILING_MS = 30_000;

export type FailingShardsDeps = {
  readonly workflows: Pick<ProcessWorkflows, 'attemptOf' | 'terminate' | 'look'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Log, 'warn'>;
};

/**
 * Ends the workflow of a shard whose task fails again and again: until then no process of the shard can be asked anything. Nothing is lost with it.
 * The streams hold what its processes recorded, and the next run begins with the open ones. A workflow of one process is left alone: it may hold the
 * result of an effect that is recorded nowhere else.
 */
export class FailingShards {
  readonly #deps: FailingShardsDeps;
  /** The run of each shard that was failing at the last check, and since when on the monotonic clock. */
  readonly #failing = new Map<number, { readonly runId: string; readonly sinceMs: number }>();

  constructor(deps: FailingShardsDeps) {
    this.#deps = deps;
  }

  /** Checks each shard once. A shard that cannot be checked is logged, and blocks nothing else. */
  async renew(shards: readonly Shard[]): Promise<void> {
    for (const shard of shards) {
      await this.#look(shard).catch((err: unknown) => {
        this.#deps.logger.warn({ err, shard: shard.index }, 'Cannot inspect the workflow of a shard');
      });
    }
  }

  async #look(shard: Shard): Promise<void> {
    const { workflows, clock, logger } = this.#deps;
    const task = await workflows.attemptOf(shard);
    const before = this.#failing.get(shard.index);
    this.#failing.delete(shard.index);
    if (task === null || task.attempt < FAILING_ATTEMPTS) return;
    const nowMs = clock.monotonicMs();
    const sinceMs = before?.runId === task.runId ? before.sinceMs : nowMs;
    if (nowMs - sinceMs < FAILING_MS) {
      this.#failing.set(shard.index, { runId: task.runId, sinceMs });
      return;
    }
    logger.warn({ shard: shard.index, ...task }, 'Restarting the workflow of a shard because its task keeps failing');
    await workflows.terminate(shard, task.runId, `attempt ${String(task.attempt)} of one workflow task`);
    await workflows.look(shard);
  }
}
