import { levelEvents, type LevelVersion } from '../src/features/levels/domain/events.js';
import type { Projection } from '../src/ports/read-models.js';

/** The newest version of a level, its tenant, and when it was put. */
export type LevelRow = Omit<LevelVersion, 'warnings' | 'bytes'> & {
  readonly tenant: string;
  readonly updatedAt: string;
};

const level = [''];

/** The levels of each tenant, by levelId. A level has one row; deleting the level removes it. */
export const levels: Projection<LevelRow> = {
  name: 'levels',
  version: 1,
  handles: levelEvents.types,
  idsOf: () => level,
  evolve: (row, recorded) => {
    const event = levelEvents.decode(recorded);
    switch (event.type) {
      case 'LevelPut': {
        const { warnings: _, bytes: __, ...put } = event.data;
        return { ...put, tenant: recorded.meta.tenant, updatedAt: recorded.meta.at };
      }
      case 'LevelDeleted':
        return null;
      default:
        return row;
    }
  },
  indexOf: ({ tenant, levelId }) => ({ partition: tenant, order: levelId, tag: 'live' }),
};
