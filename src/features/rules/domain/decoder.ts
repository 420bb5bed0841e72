import { decoderOf } from '../../../kernel/base/decoder.js';
import type { RulesetEvent } from './events.js';

/** The events of a rule set's stream. */
export const rulesetEvents = decoderOf<RulesetEvent>({ RulesetRegistered: [], RulesetDeleted: [] });
