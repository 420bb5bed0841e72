import type { EventToDecode } from '../../../kernel/base/decoder.js';
import { revisionAmong, type VersionPlaces, withVersionAt } from '../../../kernel/base/version-places.js';
import { rulesetEvents } from './events.js';
import type { DirectiveRuleSet } from './ruleset.js';

/** A ruleset folded from its stream. The newest version is kept; for the others only the revision is known, for open turns and replays. */
export type RulesetState = {
  /** The newest version, even of a deleted ruleset; null if there is none yet. */
  readonly latest: DirectiveRuleSet | null;
  readonly deleted: boolean;
  readonly places: VersionPlaces;
};

export const initialRuleset: RulesetState = { latest: null, deleted: false, places: [] };

/** The state after one more event. Total: an unknown type changes nothing. */
export const evolveRuleset = (
  state: RulesetState,
  recorded: EventToDecode & { readonly revision: number },
): RulesetState => {
  const event = rulesetEvents.decode(recorded);
  switch (event.type) {
    case 'RulesetRegistered': {
      const places = withVersionAt(state.places, event.data.version, recorded.revision);
      return { latest: event.data, deleted: false, places };
    }
    case 'RulesetDeleted':
      return { ...state, deleted: true };
    default:
      return state;
  }
};

/** The version that new turns get; null if the ruleset was never registered or is deleted. */
export const latestRuleset = (state: RulesetState): DirectiveRuleSet | null => (state.deleted ? null : state.latest);

/** The revision of the event that registered a version, even of a deleted ruleset; null if no version has that number. */
export const revisionOfVersion = ({ latest, places }: RulesetState, version: number): number | null =>
  revisionAmong(places, latest?.version ?? 0, version);
