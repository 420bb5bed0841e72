import { collectedHeap } from '../collected-heap.js';
import type { Effort } from '../effort.js';
import { heapFigure, type PartReport } from '../report.js';
import { start } from '../server.js';
import { addresses, ownNamespace } from './addresses.js';
import { openTurnRuntime, turnsOn, WORKER } from './turn-runtime.js';

/** The number of concurrent turns. */
const TURNS = 32;

/** The heap of this process after many updates of workflows, against its heap after a tenth of them. */
export const measureUpdateHeap = async ({ heapRequests }: Effort): Promise<PartReport> => {
  const namespace = ownNamespace();
  const env = addresses();
  await using worker = await start(WORKER, { ...env, BENCH_NAMESPACE: namespace });
  await using runtime = openTurnRuntime(env.TEMPORAL_ADDRESS, `${namespace}-whole`);
  const run = turnsOn(runtime, 1);
  let updates = 0;
  let turns = 0;
  const upTo = async (count: number): Promise<number> => {
    await Promise.all(
      Array.from({ length: TURNS }, async () => {
        while (updates < count) {
          await run((turns += 1), async (step) => {
            updates += 1;
            await step();
          });
        }
      }),
    );
    return collectedHeap();
  };
  const early = await upTo(heapRequests / 10);
  const late = await upTo(heapRequests);
  await worker[Symbol.asyncDispose]();
  return { figures: [heapFigure('updates of workflows', heapRequests, { early, late })], remarks: [] };
};
