import { Rejection } from '../../kernel/base/rejection.js';

/**
 * Does work that makes progress although it is aborted, for at most a time in milliseconds.
 * @throws Rejection BUSY with this message after that; what the work throws
 */
export const busyAfter = async <Result>(
  ms: number,
  message: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const signal = AbortSignal.timeout(ms);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason) throw new Rejection('BUSY', { message, retryAfter: 1 });
    throw error;
  }
};
