import type { Match, Matched } from '../../../rules/domain/matched.js';
import { permitsType } from '../../../rules/domain/bridge/refusal.js';
import { cutText } from '../../../../kernel/base/text.js';
import { fittingParts, type PromptPart } from './prompt-parts.js';
import { quotedText } from './quoted.js';
import type { TextRules } from './text-rules.js';

const RULES_BYTES = 14_000;
/** The limit of one text of a rule, in UTF-16 units. */
const RULE_CHARS = 500;
const RULES = 50;

type Guard = TextRules['guard'];

const ruleText = (text: string, guard: Guard): string => quotedText(cutText(text, RULE_CHARS), RULES_BYTES, guard);

type Typed = { readonly types: readonly string[] };
const typesIn = ({ types }: Typed, between: string): string => cutText(types.join(between), RULE_CHARS);
const areOrIs = ({ types }: Typed): string => (types.length === 1 ? 'is' : 'are');
const aimedAt = (target: string | null | undefined, guard: Guard): string =>
  (target ?? null) === null ? '' : ` at ${ruleText(target ?? '', guard)}`;

/** What rules above a rule that forbids leave of it, before the action is known. */
type Lifted = {
  /** Whether an action is certainly not forbidden by it, or may turn out not to be. */
  readonly isLifted: (type: string) => boolean;
  readonly mayBeLifted: (type: string) => boolean;
  readonly any: boolean;
};

const liftedFrom = (forbidding: Match, { matches, pending = [] }: Matched): Lifted => {
  const above = (some: readonly Match[]): readonly Match[] =>
    some.slice(0, RULES).filter(({ rank }) => rank < forbidding.rank);
  const certain = above(matches);
  const possible = [...certain, ...above(pending)];
  const isAimed = ({ effect }: Match): boolean => 'target' in effect && (effect.target ?? null) !== null;
  return {
    isLifted: (type) => certain.some((match) => permitsType(match, type) && !isAimed(match)),
    mayBeLifted: (type) => possible.some((match) => permitsType(match, type)),
    any: possible.some(({ effect }) => effect.kind === 'allow' || effect.kind === 'require'),
  };
};

/** What a rule that forbids says to the model. */
const prohibitions = (match: Match, because: string, lifted: Lifted, guard: Guard): readonly string[] => {
  const { effect } = match;
  if (effect.kind !== 'forbid') return [];
  const at = aimedAt(effect.target, guard);
  if (effect.types.includes('*') && lifted.isLifted('*')) return [];
  if (effect.types.includes('*'))
    return [lifted.any ? `No other action is allowed${at}${because}.` : `You must not act at all${at}${because}.`];
  const limited = { types: effect.types.filter((type) => !lifted.isLifted(type) && lifted.mayBeLifted(type)) };
  const forbidden = { types: effect.types.filter((type) => !lifted.mayBeLifted(type)) };
  return [
    ...(forbidden.types.length === 0
      ? []
      : [`${typesIn(forbidden, ', ')}${at} ${areOrIs(forbidden)} forbidden${because}.`]),
    ...(limited.types.length === 0
      ? []
      : [`${typesIn(limited, ', ')}${at} ${areOrIs(limited)} allowed only within limits${because}.`]),
  ];
};

/** The demands of a matching rule on the model. */
const demands = (match: Match, matched: Matched, guard: Guard): readonly string[] => {
  const { rule, effect } = match;
  const because = rule.ruleReason === '' ? '' : ` (${ruleText(rule.ruleReason, guard)})`;
  const suffix = rule.rulePromptSuffix ?? '';
  const said = suffix === '' ? [] : [ruleText(suffix, guard)];
  switch (effect.kind) {
    case 'direct':
      return [`Your action must be ${effect.type}${aimedAt(effect.target, guard)}${because}.`, ...said];
    case 'require':
      return [`Your action must be ${typesIn(effect, ' or ')}${aimedAt(effect.target, guard)}${because}.`, ...said];
    case 'allow':
      return [
        `${effect.types.includes('*') ? 'Every action' : typesIn(effect, ', ')}${aimedAt(effect.target, guard)} ${areOrIs(effect)} allowed${because}.`,
        ...said,
      ];
    case 'forbid':
      return [...prohibitions(match, because, liftedFrom(match, matched), guard), ...said];
    case 'say':
      return [`${ruleText(effect.sentence, guard)}${because}`, ...said];
    case 'none':
      return said;
  }
};

/** The demands of the matching rules as lines for the model, highest priority first; as many as fit. */
export const ruleLines = (matched: Matched, guard: Guard): readonly PromptPart[] => {
  const lines = matched.matches
    .slice(0, RULES)
    .flatMap((match) =>
      demands(match, matched, guard).map((text) => ({ text, from: 'rule', ref: match.rule.drRuleId }) as const),
    );
  return fittingParts(lines, RULES_BYTES);
};
