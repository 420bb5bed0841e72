import { withTimeLimit } from '../kernel/concurrency/time-limit.js';
import { defined } from '../kernel/base/defined.js';
import { Rejection } from '../kernel/base/rejection.js';
import type { DependencyState } from '../kernel/http/status.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';

/** How long `GET /readyz` waits for a dependency, in milliseconds. */
const READY_TIMEOUT_MS = 1_500;
/** How long an answer is reused before the dependencies are checked again, in milliseconds. */
export const TOLD_AGAIN_MS = 1_000;

/** Whether a dependency answers in time; `detail` is its error's message. */
export const answering = async (clock: Clock, ask: () => Promise<unknown>): Promise<DependencyState> => {
  const late = (): Error => new Error(`no response within ${READY_TIMEOUT_MS} ms`);
  try {
    await withTimeLimit(clock, { ms: READY_TIMEOUT_MS, late }, ask);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error), failure: error };
  }
};

/** Checks at most once at a time and once a second. The route needs no key, and a check costs connections. */
export const notTooOften = <T>(clock: Clock, ask: () => Promise<T>): (() => Promise<T>) => {
  let last: { readonly answer: Promise<T>; endedMs: number | null } | null = null;
  return () => {
    if (last !== null && (last.endedMs === null || clock.monotonicMs() - last.endedMs < TOLD_AGAIN_MS)) {
      return last.answer;
    }
    const asked = { answer: ask(), endedMs: null as number | null };
    const end = (): void => void (asked.endedMs = clock.monotonicMs());
    asked.answer.then(end, end);
    last = asked;
    return asked.answer;
  };
};

/** The state of a file store, fit for clients without a key: it names neither files nor their content. */
export const withoutNames = ({ detail: _detail, ...state }: DependencyState): DependencyState => {
  if (state.ok) return state;
  const isFull = state.failure instanceof Rejection && state.failure.code === 'STORE_FULL';
  return { ...state, detail: isFull ? 'The disk is full.' : 'The event store cannot be read or written.' };
};

/** The same state; while it is bad, its detail begins with what that means to clients. */
export const meaning = (what: string, state: DependencyState): DependencyState =>
  state.ok ? state : { ...state, detail: state.detail === undefined ? what : `${what}: ${state.detail}` };

/**
 * Logs the reason when a server begins to fail, logs it again when it changes, and logs when the server responds again. Numbers in a reason do not
 * count.
 */
export const tellingChanges = (log: Pick<Log, 'info' | 'warn'>) => {
  const reasons = new Map<string, string>();
  return (states: Readonly<Record<string, DependencyState | null>>): void => {
    for (const [server, state] of Object.entries(states)) {
      if (state === null) continue;
      if (state.ok) {
        if (reasons.delete(server)) log.info({ server }, 'A server is available again');
        continue;
      }
      const reason = (state.detail ?? '').replaceAll(/\d+/g, '');
      if (reasons.get(server) === reason) continue;
      reasons.set(server, reason);
      log.warn(
        { server, ...defined({ detail: state.detail, err: state.failure }) },
        'A server is unavailable or rejects requests',
      );
    }
  };
};
