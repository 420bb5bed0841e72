import { ghostEvents, type GhostEnding, type GhostPlan } from '../src/features/ghosts/domain/events.js';
import { parseGhostStream } from '../src/kernel/base/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A ghost session as the history lists it. `passRate` is 0 until its report is made. */
export type GhostRow = Pick<GhostPlan, 'goal' | 'suite' | 'level' | 'seed'> & {
  readonly sessionId: string;
  readonly tenant: string;
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly status: 'pending' | 'running' | GhostEnding;
  readonly passRate: number;
  readonly reported: boolean;
};

/** The tag of sessions whose report is not made yet, which still need their level. */
export const OPEN_GHOST = 'open';

/** The share of judged tests that passed. */
const passRateOf = (tests: readonly { readonly testPassed?: unknown; readonly testSkipped?: unknown }[]): number => {
  const judged = tests.filter(({ testSkipped }) => testSkipped !== true);
  return judged.length === 0 ? 0 : judged.filter(({ testPassed }) => testPassed === true).length / judged.length;
};

const none: readonly string[] = [];

/** The ghost sessions of each tenant in the order in which they were requested, by their ids. */
export const ghosts: Projection<GhostRow> = {
  name: 'ghosts',
  version: 2,
  handles: ['GhostRequested', 'GhostBegun', 'GhostEnded', 'GhostReported'],
  idsOf: ({ stream, data }) => {
    const { sessionId } = data;
    return typeof sessionId === 'string' && parseGhostStream(stream) !== null ? [sessionId] : none;
  },
  evolve: (row, recorded) => {
    const event = ghostEvents.decode(recorded);
    switch (event.type) {
      case 'GhostRequested': {
        const { sessionId, goal, suite, level, seed } = event.data;
        const tenant = parseGhostStream(recorded.stream)?.tenant ?? '';
        const asked = { sessionId, tenant, goal, suite, level, seed, startedAt: recorded.meta.at };
        return { ...asked, completedAt: null, status: 'pending', passRate: 0, reported: false };
      }
      case 'GhostBegun':
        return row && { ...row, status: 'running' };
      case 'GhostEnded':
        return row && { ...row, status: event.data.ending, completedAt: recorded.meta.at };
      case 'GhostReported':
        return row && { ...row, passRate: passRateOf(event.data.tests), reported: true };
      default:
        return row;
    }
  },
  indexOf: ({ tenant, startedAt, sessionId, reported }) => ({
    partition: tenant,
    order: `${startedAt} ${sessionId}`,
    tag: reported ? '' : OPEN_GHOST,
  }),
};
