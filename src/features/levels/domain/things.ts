import { isClientId } from '../../../kernel/base/client-id.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import { warningsOf } from '../../rules/domain/warnings.js';
import type { Level, LevelNpc } from './level.js';
import { MAX_LINES, MAX_NPCS, PERSONA_CHARS, RULES_CHARS } from './bounds.js';
import { type MapPlace, type MapRemarks, WHOLE_MAP } from './problem.js';
import { readLevelRules } from './rules.js';
import { propertyReader, type PropertyReader } from './map-members.js';
import type { MapThing } from './map-objects.js';

export type LevelThings = Pick<Level, 'goals' | 'items' | 'doors' | 'hazards' | 'npcs' | 'triggers'>;

/** The default harm of a hazard. */
const HARM = 10;
/** How many warnings about the rules of one mind are reported. */
const RULE_WARNINGS = 5;

const listed = (text: string, between: RegExp): readonly string[] =>
  text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A mind's rules from the property `rules`; null for none. */
export function* rulesetAt(
  read: PropertyReader,
  id: string,
  at: MapPlace,
  remarks: MapRemarks,
  accepted: boolean,
): Sliced<DirectiveRuleSet | null> {
  const text = read.text('rules', RULES_CHARS);
  if (text === '') return null;
  // Reading the text also counts as work.
  yield text.length;
  const set = yield* readLevelRules(text, isClientId(id) ? id : 'level', accepted);
  if ('problem' in set) {
    remarks.refuse(at, set.problem);
    return null;
  }
  for (const { drRuleId, message } of (yield* warningsOf(set)).slice(0, RULE_WARNINGS))
    remarks.warn(at, drRuleId === '' ? message : `Rule ${drRuleId}: ${message}`);
  return set;
}

function* npcOf(
  { id, at, place }: MapThing,
  read: PropertyReader,
  remarks: MapRemarks,
  accepted: boolean,
): Sliced<LevelNpc> {
  const says = listed(read.text('says', PERSONA_CHARS), /\r\n|\r|\n/);
  if (says.length > MAX_LINES)
    remarks.refuse(place, `The NPC has more than ${MAX_LINES} lines to say. Remove some of them.`);
  const ruleset = yield* rulesetAt(read, id, place, remarks, accepted);
  return { id, at, persona: read.text('persona', PERSONA_CHARS), ruleset, says };
}

/** The objects of a level, read from the objects of its map, in their order. */
export function* readThings(things: readonly MapThing[], remarks: MapRemarks, accepted: boolean): Sliced<LevelThings> {
  const made = (kind: MapThing['thing']) =>
    things
      .filter(({ thing }) => thing === kind)
      .map((one) => ({
        one,
        own: { id: one.id, at: one.at },
        read: propertyReader(one.properties, one.place, remarks),
      }));
  const npcs: LevelNpc[] = [];
  const people = made('npc');
  if (people.length > MAX_NPCS) {
    const problem = `The map has ${people.length} NPCs; the limit is ${MAX_NPCS}. Remove some of them.`;
    remarks.refuse(WHOLE_MAP, problem);
  } else for (const { one, read } of people) npcs.push(yield* npcOf(one, read, remarks, accepted));
  return {
    goals: made('goal').map(({ own }) => own),
    items: made('item').map(({ own, read }) => ({
      ...own,
      opens: [...new Set(listed(read.text('opens'), /,/))],
      heals: read.hitPoints('heals', 0),
      consumed: read.flag('consumed'),
    })),
    doors: made('door').map(({ own, read }) => ({ ...own, locked: read.flag('locked') })),
    hazards: made('hazard').map(({ own, read }) => ({ ...own, harm: read.hitPoints('harm', HARM) })),
    npcs,
    triggers: made('trigger').map(({ one: { id, at, to }, read }) => ({
      id,
      from: at,
      to,
      text: read.text('text'),
      once: read.flag('once'),
    })),
  };
}
