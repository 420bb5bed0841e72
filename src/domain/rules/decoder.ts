import { decoderOf } from '../shared/decoder.js';
import type { RulesetEvent } from './ruleset-events.js';

/** The events of a rule set's stream. */
export const rulesetEvents = decoderOf<RulesetEvent>({ RulesetRegistered: [], RulesetDeleted: [] });
