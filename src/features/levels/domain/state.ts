import type { EventToDecode } from '../../../kernel/base/decoder.js';
import { type VersionPlaces, withVersionAt } from '../../../kernel/base/version-places.js';
import { levelEvents, type LevelVersion } from './events.js';

/** A level folded from its stream. */
export type LevelState = {
  /** The newest version, even of a deleted level, and when it was stored; null if there is none yet. */
  readonly latest: { readonly put: LevelVersion; readonly at: string } | null;
  readonly deleted: boolean;
  /** Versions up to this one were dropped together with their maps. */
  readonly dropped: number;
  readonly places: VersionPlaces;
};

export const initialLevel: LevelState = { latest: null, deleted: false, dropped: 0, places: [] };

type RecordedInLevel = EventToDecode & { readonly revision: number; readonly meta: { readonly at: string } };

/** The state after one more event. Total: an unknown type changes nothing. */
export const evolveLevel = (state: LevelState, recorded: RecordedInLevel): LevelState => {
  const event = levelEvents.decode(recorded);
  switch (event.type) {
    case 'LevelPut': {
      const places = withVersionAt(state.places, event.data.version, recorded.revision);
      return { ...state, latest: { put: event.data, at: recorded.meta.at }, deleted: false, places };
    }
    case 'LevelDeleted':
      return event.data.versions === 'all'
        ? { ...state, deleted: true, dropped: state.latest?.put.version ?? 0 }
        : { ...state, deleted: true };
    default:
      return state;
  }
};
