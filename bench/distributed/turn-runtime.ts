import { fileURLToPath } from 'node:url';

import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { TemporalProcessRuntime } from '../../src/adapters/temporal/process-runtime.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { createLogger } from '../../src/config/logger.js';
import { makeTurnId } from '../../src/features/turns/domain/turn-id.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { TurnAnswer } from '../../workflows/turn/turn-answer.js';
import { turn } from '../../workflows/turn/turn.js';
import { turnInputs } from '../turn-history.js';

/** The workers of turns, in a separate process. */
export const WORKER = fileURLToPath(new URL('./temporal-worker.js', import.meta.url));
/** How long a turn may be open, in milliseconds. */
export const TURN_MS = 15 * 60 * 1_000;

/** One turn, or what it is compared with. `at` is called with each of its steps in order and resolves when that step is answered. */
export type Runner = (turnNumber: number, at: (step: () => Promise<unknown>) => Promise<void>) => Promise<void>;

/** The client's side of turns on Temporal. */
export const openTurnRuntime = (address: string, namespace: string): TemporalProcessRuntime =>
  new TemporalProcessRuntime({
    shards: { count: 2, processes: [turn.name] },
    address,
    temporalNamespace: 'default',
    namespace,
    // Not needed: the measurement has no lost processes.
    events: { openProcesses: () => Promise.resolve([]) },
    repository: new ProcessRepository(EmbeddedEventStore.open(':memory:'), { shared: true }),
    processes: { [turn.name]: { process: turn } },
    clock: systemClock,
    random: systemRandom,
    logger: createLogger('error', process.stderr, false),
  });

/** Runs complete turns of four steps, each of a different mind. @param series must differ in each call */
export const turnsOn =
  (runtime: TemporalProcessRuntime, series: number): Runner =>
  async (number, at) => {
    const openedMs = Date.now();
    const deadlineAt = new Date(openedMs + TURN_MS).toISOString();
    const turnId = makeTurnId('process', -1, openedMs, `${String(series)}-${String(number)}`);
    const ref = {
      process: turn.name,
      id: turnId,
      stream: npcStream('local', `inn-${String(series)}-${String(number)}`),
    };
    let answer: TurnAnswer | null = null;
    for (const [step, input] of turnInputs(number, turnId, deadlineAt).entries()) {
      const commandId = `${turnId}-${String(step)}`;
      const by = { tenant: 'local', actor: 'bench', commandId, correlationId: commandId, causationId: null };
      await at(async () => {
        answer = (await runtime.ask(ref, [input], by)).answer as TurnAnswer;
      });
    }
    const said = (answer as TurnAnswer | null)?.instruction.type;
    if (said !== 'Finalize') throw new Error(`a turn ended with ${String(said)}`);
  };
