import type { DependencyState } from '../http/routes/status.js';
import type { Clock } from '../ports/clock.js';

/** How long `GET /readyz` waits for a dependency, in milliseconds. */
const READY_TIMEOUT_MS = 1_500;

/** Whether a dependency answers in time; what it fails with is told. */
export const answering = async (clock: Clock, ask: () => Promise<unknown>): Promise<DependencyState> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.at(new Date(clock.now().getTime() + READY_TIMEOUT_MS), () => {
      reject(new Error(`no answer within ${String(READY_TIMEOUT_MS)} ms`));
    });
  });
  try {
    await Promise.race([ask(), late]);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  } finally {
    cancel();
  }
};
