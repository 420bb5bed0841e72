import { npcEvents } from '../src/features/npcs/domain/events.js';
import { refusingRule } from '../src/features/npcs/domain/refusing-rule.js';
import type { ActivityUnit } from '../src/features/search/domain/activity-span.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import type { Count, Projection } from '../src/ports/read-models.js';

/** How much of a timestamp names an hour or a day. */
const PLACES: Readonly<Record<ActivityUnit, number>> = { hours: 'yyyy-mm-ddThh'.length, days: 'yyyy-mm-dd'.length };

/** The place of a time among the counts of a unit. Times are in UTC. */
export const activityPlace = (unit: ActivityUnit, at: string): string => at.slice(0, PLACES[unit]);

/** The partition of one mind's counts, and of all minds' of a tenant. Neither streams nor tenants have spaces in their names. */
export const activityOfMind = (stream: string, unit: ActivityUnit): string => `${stream} ${unit}`;
export const activityOfTenant = (tenant: string, unit: ActivityUnit): string => `all ${tenant} ${unit}`;

export const TURNS = 'turns';
export const REFUSALS = 'refusals';
const RULE = 'rule ';
/** How much of a rule's id is counted by: PostgreSQL bounds what its indexes hold. */
const RULE_CHARACTERS = 200;

const nameOf = (drRuleId: string): string => RULE + drRuleId.replaceAll('\0', '\uFFFD').slice(0, RULE_CHARACTERS);

/** The rule whose refusals a count has; undefined for a count of something else. */
export const countedRule = (name: string): string | undefined =>
  name.startsWith(RULE) ? name.slice(RULE.length) : undefined;

const none: readonly never[] = [];

/** How many turns began and how many verdicts were refused, also by each rule, in each hour and day: of each mind, and of all minds of a tenant. */
export const activity: Projection = {
  name: 'activity',
  version: 1,
  handles: ['TurnOpened', 'DirectiveGiven', 'ContextBuilt', 'VerdictReached', 'VerdictRefused'],
  idsOf: () => none,
  evolve: () => null,
  indexOf: () => ({ partition: '', order: '', tag: '' }),
  countsOf: (recorded) => {
    const { stream, meta } = recorded;
    const mind = isNpcStream(stream) ? parseNpcStream(stream) : null;
    if (mind === null) return none;
    const event = npcEvents.decode(recorded);
    const names: string[] = [];
    if (event.type === 'VerdictReached' || event.type === 'VerdictRefused') {
      const { asked, verdict } = event.data;
      if (asked !== undefined) names.push(TURNS);
      if (event.type === 'VerdictRefused') {
        const rule = refusingRule(verdict);
        names.push(REFUSALS, ...(rule === undefined ? [] : [nameOf(rule)]));
      }
    } else names.push(TURNS);
    return (Object.keys(PLACES) as ActivityUnit[]).flatMap((unit) =>
      [activityOfMind(stream, unit), activityOfTenant(mind.tenant, unit)].flatMap((partition) =>
        names.map((name): Count => ({ partition, place: activityPlace(unit, meta.at), name })),
      ),
    );
  },
};
