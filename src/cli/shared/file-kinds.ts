import { isObject, type Json, type JsonObject } from '../../kernel/base/json.js';

// Rulesets and their tests are files side by side, and are easily mistaken for each other. So are souls and cards.

const has = (content: JsonObject, name: string): boolean => Object.hasOwn(content, name);

/** Whether the content of a file is a ruleset, not a file of tests. */
export const looksLikeRuleset = (content: Json): boolean =>
  isObject(content) &&
  !has(content, 'cases') &&
  ['rulesetRules', 'rulesetId', 'ruleState'].some((name) => has(content, name));

const looksLikeTests = (content: JsonObject): boolean => has(content, 'cases') && !has(content, 'rulesetRules');

/** Whether the content of a file is a soul, not a card. */
export const looksLikeSoul = (content: unknown): boolean =>
  isObject(content) && ['npcId', 'provenance', 'signature'].every((name) => has(content, name));

/** Whether the content of a file is a character card, not a soul. */
export const looksLikeCard = (content: unknown): boolean =>
  isObject(content) && !has(content, 'provenance') && ['spec', 'first_mes'].some((name) => has(content, name));

/** Says how a card is imported that was given as a soul. */
export const aCard = (file: string): string =>
  `${file} is a character card, not a soul. Import it with "anima card import <npcId> ${file}".`;

/** Says how a soul is imported that was given as a card. */
export const aSoul = (file: string): string =>
  `${file} is a soul, not a card. Import it with "anima soul import ${file}".`;

/** Says what a ruleset is that was given as a file of tests. */
export const A_RULESET =
  'This is a ruleset, which "anima rules check" and "anima rules put" take. A file of tests has cases, and names its ruleset.';

/** Why the content of a file cannot be a ruleset, as a sentence; null if it can be one. @param file the name of the file */
export const whyNoRuleset = (file: string, content: Json): string | null => {
  if (isObject(content) && looksLikeTests(content))
    return `${file} is a file of tests, which "anima rules test" takes. Give its ruleset here.`;
  if (/\.ya?ml$/i.test(file))
    return `${file} is YAML, but rulesets are JSON. Save it as JSON, under a name that ends in ".json".`;
  return isObject(content) ? null : `${file} does not hold a JSON object.`;
};
