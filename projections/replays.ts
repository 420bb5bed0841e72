import { replayEvents } from '../src/features/replays/domain/events.js';
import { parseReplayStream } from '../src/kernel/base/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** The members of a replay that show which ones run. */
export type ReplayRow = {
  readonly replayId: string;
  readonly tenant: string;
  readonly startedAt: string;
  readonly isOver: boolean;
};

/** The tag of replays that are not over. */
export const OPEN_REPLAY = 'open';

const none: readonly string[] = [];

/** The replays of each tenant in the order in which they were requested. */
export const replays: Projection<ReplayRow> = {
  name: 'replays',
  version: 1,
  handles: ['ReplayRequested', 'ReplayEnded'],
  idsOf: ({ stream, data }) => {
    const { replayId } = data;
    return typeof replayId === 'string' && parseReplayStream(stream) !== null ? [replayId] : none;
  },
  evolve: (row, recorded) => {
    const event = replayEvents.decode(recorded);
    switch (event.type) {
      case 'ReplayRequested': {
        const tenant = parseReplayStream(recorded.stream)?.tenant ?? '';
        return { replayId: event.data.replayId, tenant, startedAt: recorded.meta.at, isOver: false };
      }
      case 'ReplayEnded':
        return row && { ...row, isOver: true };
      default:
        return row;
    }
  },
  indexOf: ({ tenant, startedAt, replayId, isOver }) => ({
    partition: tenant,
    order: `${startedAt} ${replayId}`,
    tag: isOver ? '' : OPEN_REPLAY,
  }),
};
