import { parseLogStream } from '../../domain/shared/stream-names.js';
import type { CheckpointReceiver } from '../../ports/checkpoint-receiver.js';
import type { Ports } from '../../ports/ports.js';
import type { CheckpointFacts, CheckpointInput, RoundArgs } from '../../../workflows/checkpoint.js';
import type { ProcessHost } from '../processes/hosted-process.js';
import { gatherHeads } from './gather-heads.js';
import { handOnCheckpoints } from './hand-on.js';
import { logFold } from './log.js';
import { signCheckpoint, type SignDeps } from './sign-checkpoint.js';

/** How long one attempt at a batch, a signature or handing on may take, in milliseconds. */
const EFFECT_MS = 120_000;

export type CheckpointHostDeps = Omit<SignDeps, 'events' | 'clock'> & {
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  /** Who keeps checkpoints outside; null: nobody. */
  readonly checkpointReceiver: CheckpointReceiver | null;
};

/** What a round of the log needs: its effects read the order of all events, sign, and hand on. */
export const checkpointHost = (open: CheckpointHostDeps): ProcessHost => ({
  fold: logFold,
  prepare: () => Promise.resolve((log) => ({ log }) as CheckpointFacts),
  effectMs: EFFECT_MS,
  effect: async ({ stream, id }, { name, args }, signal): Promise<CheckpointInput> => {
    const tenant = parseLogStream(stream);
    if (tenant === null) throw new Error(`the round ${id} is not in the stream of a log`);
    const { lanes, checkpointReceiver: receiver } = open;
    const { events, clock } = open.ports;
    switch (name) {
      case 'gathering':
        return gatherHeads({ events, clock }, tenant, args as RoundArgs, signal);
      case 'signing':
        return signCheckpoint({ ...open, events, clock }, tenant, receiver !== null);
      case 'handingOn': {
        const { state } = await lanes.current(stream, logFold);
        return handOnCheckpoints({ events, receiver, clock }, tenant, state.handedOn, signal);
      }
      default:
        throw new Error(`a round of the log has no effect ${name}`);
    }
  },
});
