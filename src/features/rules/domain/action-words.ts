import { isMisspelt } from '../../../kernel/base/alike.js';
import { isActionType } from './action-type.js';
import { isProblem, type Problem, problem, shownText } from './conditions/problem.js';
import { type DirectiveRule, effectOf, type Grammar, type RuleEffect } from './ruleset.js';

type Verb = 'REQUIRE' | 'ALLOW' | 'FORBID';
const VERBS: readonly Verb[] = ['REQUIRE', 'ALLOW', 'FORBID'];
const KINDS = { REQUIRE: 'require', ALLOW: 'allow', FORBID: 'forbid' } as const;
/** Other words for a verb. They come before a comparison by letters, because `DISALLOW` resembles `ALLOW`. */
const OTHER_WORDS: Readonly<Record<string, Verb>> = {
  ...{ DENY: 'FORBID', DISALLOW: 'FORBID', PROHIBIT: 'FORBID', BAN: 'FORBID', NEVER: 'FORBID', FORBIDDEN: 'FORBID' },
  ...{ PERMIT: 'ALLOW', MAY: 'ALLOW', MUST: 'REQUIRE', NEED: 'REQUIRE', ALWAYS: 'REQUIRE' },
};
/** How many action types one rule may name. */
const MOST_TYPES = 64;

const EVERY = '*';
const isType = (text: string): boolean => text === EVERY || isActionType(text);

/** The types of a list, in upper case; null if one of them is not an action type. */
const typesIn = (list: string): readonly string[] | null => {
  const types = list.split(',').map((type) => type.trim().toUpperCase());
  return types.every(isType) ? [...new Set(types.map((type) => (type === 'ALL' ? EVERY : type)))] : null;
};

const verbOf = (word: string): Verb | undefined => VERBS.find((verb) => verb === word.toUpperCase());

/** The verb that a word was probably meant to be. */
const likelyVerb = (word: string): Verb | undefined => {
  const upper = word.toUpperCase();
  if (Object.hasOwn(OTHER_WORDS, upper)) return OTHER_WORDS[upper];
  // `FORBIDS`, `ALLOWED`
  return VERBS.find((verb) => isMisspelt(word, verb) || (upper.startsWith(verb) && upper.length <= verb.length + 3));
};

/** The words of an action without the marks between and behind them. */
const wordsOf = (action: string): readonly string[] =>
  action
    .split(/[\s,;]+/)
    // Bounded, because a longer run would be searched once from each of its characters.
    .map((word) => word.replace(/[.!:]{1,8}$/, ''))
    .filter((word) => word !== '');

const ordered = (verb: Verb, types: readonly string[], target: string | null): RuleEffect | Problem => {
  if (types.length > MOST_TYPES) return problem(`A rule names at most ${MOST_TYPES} action types.`);
  if (verb === 'REQUIRE' && types.includes(EVERY))
    return problem('No action is every action, so * cannot be required.');
  return { kind: KINDS[verb], types, target };
};

const NO_ORDER = 'is neither REQUIRE, ALLOW or FORBID with action types between commas, nor a sentence for the prompt.';

/** One word: a verb alone, or a type with a mark behind it. */
const wordProblem = (action: string, word: string): Problem | null => {
  const verb = verbOf(word);
  if (verb !== undefined)
    return problem(`${shownText(action)} names no action type.`, verb === 'FORBID' ? `FORBID ${EVERY}` : undefined);
  const glued = VERBS.find((one) => word.startsWith(`${one}_`));
  if (glued !== undefined)
    return problem(`${shownText(action)} is one word.`, `${glued} ${word.slice(glued.length + 1)}`);
  return isActionType(word) && word !== action ? problem(`${shownText(action)} ${NO_ORDER}`, word) : null;
};

/** A longer text is a sentence, in UTF-16 units: 64 of the longest types fit. */
const ORDER_CHARS = 8_192;

/** Several words that look like an order: a verb in capitals, or action types behind a word that is one or resembles a verb. */
const phraseProblem = (action: string): Problem | null => {
  if (action.length > ORDER_CHARS) return null;
  const [first = '', ...more] = wordsOf(action);
  if (more.length === 0) return wordProblem(action, first);
  const verb = likelyVerb(first);
  const isVerb = (VERBS as readonly string[]).includes(first);
  // `forbd sell`: a misspelt verb before what would be types in capitals.
  const isSlip =
    verbOf(first) === undefined &&
    VERBS.some((one) => isMisspelt(first, one)) &&
    more.every((word) => isType(word.toUpperCase()));
  if (!isVerb && !isSlip && !(more.every(isType) && (isType(first) || verb !== undefined))) return null;
  const meant = verb ?? (action.includes(',') ? 'REQUIRE' : undefined);
  const named = verb === undefined ? [first, ...more] : more;
  const types = (isSlip ? named.map((word) => word.toUpperCase()) : named).filter(isType);
  const isWhole = meant !== undefined && types.length > 0;
  return problem(`${shownText(action)} ${NO_ORDER}`, isWhole ? `${meant} ${types.join(', ')}` : undefined);
};

type Action = Pick<DirectiveRule, 'ruleAction' | 'ruleTarget'>;

/** Reads a rule's action in grammar 2: `REQUIRE|ALLOW|FORBID TYPE[, TYPE…]`, a bare type, or a sentence for the prompt. */
export const readActionWords = ({ ruleAction, ruleTarget }: Action): RuleEffect | Problem => {
  const action = ruleAction.trim();
  if (action === '') return { kind: 'none' };
  const target = ruleTarget === '' ? null : ruleTarget;
  const [, first = '', list = ''] = /^(\S+)\s+(.+)$/su.exec(action) ?? [];
  const verb = verbOf(first);
  const types = verb === undefined ? null : typesIn(list);
  if (verb !== undefined && types !== null) return ordered(verb, types, target);
  const wrong = phraseProblem(action);
  if (wrong !== null) return wrong;
  if (action === EVERY || action === 'ALL') return problem(`${action} needs a verb.`, `FORBID ${EVERY}`);
  return isActionType(action) ? { kind: 'require', types: [action], target } : { kind: 'say', sentence: action };
};

/** The effect of a rule in grammar 2. An action that cannot be read has none: such a set is not registered. */
export const strictEffectOf = (rule: Action): RuleEffect => {
  const read = readActionWords(rule);
  return isProblem(read) ? { kind: 'none' } : read;
};

/** The effect of a rule in the grammar of its set. */
export const effectIn = (grammar: Grammar, rule: Action): RuleEffect =>
  grammar === 2 ? strictEffectOf(rule) : effectOf(rule);
