import { upperFirst, saidByItself, sentence } from './own-view.js';
import type { Demand, PromptContent } from './situation.js';
import type { Heard } from './hearing.js';
import type { Self } from './self.js';
import { topicsOf } from './words.js';

type DirectedAction = Extract<Demand, { kind: 'act' }>;
type Ban = Extract<Demand, { kind: 'forbid' }>;

/** The phrases by which players request actions of these types. */
const WISHES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:give|hand|lend|pass|share|have some|serve|fetch|bring|gib|leih|schenk|reich)\b/i, ['GIVE', 'TRADE']],
  [/\b(?:sell|buy|trade|price|purchase|barter|kauf\w*|verkauf\w*)\b/i, ['TRADE', 'SELL', 'BUY', 'GIVE']],
  [
    /\b(?:attack|kill|fight|hit|strike|hurt|duel|beat|stab|shoot|draw|kämpf\w*|töte\w*|schlag\w*|greif\w*)\b/i,
    ['ATTACK', 'FIGHT'],
  ],
  [
    /\b(?:come|go|follow|walk|run|leave|move|join|lead|take me|guide|komm\w*|geh\w*|folg\w*|lauf\w*)\b/i,
    ['MOVE', 'FOLLOW', 'FLEE'],
  ],
  [/\b(?:open|unlock|use|pull|push|close|touch|light|öffne|mach \w+ auf)\b/i, ['INTERACT', 'USE', 'OPEN', 'UNLOCK']],
  [/\b(?:cast|spell|magic|conjure|enchant)\b/i, ['CAST']],
  [/\b(?:steal|take|pick|grab|nimm|stiehl)\b/i, ['TAKE', 'STEAL', 'PICKUP']],
];

/** The action that the rules direct; the one with the highest priority counts. */
export const directedBy = ({ demands }: PromptContent): DirectedAction | null =>
  demands.find((demand): demand is DirectedAction => demand.kind === 'act') ?? null;

const bansIn = ({ demands }: PromptContent): readonly Ban[] =>
  demands.filter((demand): demand is Ban => demand.kind === 'forbid');

/** Whether the rules forbid an action of this type. */
export const isForbidden = (situation: PromptContent, type: string): boolean =>
  bansIn(situation).some(({ types }) => types.includes('*') || types.includes(type));

/** The ban that applies to the request: by the action's type, or because its reason mentions the same thing. */
export const banAgainst = (situation: PromptContent, { text, wants, asks, threatens }: Heard): Ban | null => {
  if (!wants && !asks && !threatens) return null;
  const wished = new Set(WISHES.flatMap(([words, types]) => (words.test(text) ? types : [])));
  const words = new Set(text.toUpperCase().match(/[A-Z]+/g) ?? []);
  const topics = topicsOf(text);
  return (
    bansIn(situation).find(
      ({ types, because }) =>
        types.includes('*') ||
        types.some((type) => wished.has(type) || words.has(type)) ||
        (because !== null && [...topicsOf(because)].some((topic) => topics.has(topic))),
    ) ?? null
  );
};

/** Whether the rules' sentences instruct the speaker to refuse, and why. */
export const refusalAsked = ({ demands }: PromptContent): { readonly because: string | null } | null =>
  demands.find(
    (demand) =>
      demand.kind === 'tone' &&
      /^(?:politely |firmly |always )?(?:refuse|decline|turn down|deny|reject)\b/i.test(demand.text),
  ) ?? null;

/** The manner that the rules require. */
export const tonesIn = ({ demands }: PromptContent): readonly string[] =>
  demands.flatMap((demand) => (demand.kind === 'tone' ? [demand.text] : []));

/** A rule's reason, said by the NPC that it binds. */
export const ownReason = (because: string, { name }: Self): string =>
  sentence(upperFirst((name === null ? null : saidByItself(because, name)) ?? because));
