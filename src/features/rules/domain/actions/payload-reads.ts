import { effectIn } from '../action-words.js';
import { isProblem, problemText, shownText } from '../conditions/problem.js';
import { pathOf } from '../conditions/cel/reads.js';
import type { Path } from '../conditions/path.js';
import { isCel, readCondition } from '../conditions/read-condition.js';
import { isIndex } from '../key-tree.js';
import type { DirectiveRule, RuleCondition } from '../ruleset.js';
import { nearestName } from '../../../../kernel/base/nearest.js';
import { type ActionDeclaration, declarationsOf, type DeclaringSet } from './action-declaration.js';
import { type PayloadSchema, propertyOf } from './payload-schema.js';

/** What a schema says of a path: the schema at its end, `anything` if it says nothing, or the first name that nothing can have. */
type Found =
  | { readonly is: 'schema'; readonly schema: PayloadSchema }
  | { readonly is: 'anything' }
  | { readonly is: 'never'; readonly name: string; readonly known: readonly string[] };

const ANYTHING: Found = { is: 'anything' };

const isAlways = (schema: PayloadSchema): boolean =>
  schema.type === undefined && schema.enum === undefined && schema.const === undefined;

/** What one name leads to. A path goes through the elements of lists. */
const step = (schema: PayloadSchema, name: string): Found => {
  if (schema.type === 'array') {
    const { items } = schema;
    if (items === undefined) return ANYTHING;
    return isIndex(name) ? { is: 'schema', schema: items } : step(items, name);
  }
  if (schema.type === 'object') {
    const property = propertyOf(schema, name);
    if (property !== undefined) return { is: 'schema', schema: property };
    return schema.additionalProperties === false
      ? { is: 'never', name, known: Object.keys(schema.properties ?? {}) }
      : ANYTHING;
  }
  return isAlways(schema) ? ANYTHING : { is: 'never', name, known: [] };
};

const find = (schema: PayloadSchema, names: readonly string[]): Found => {
  let found: Found = { is: 'schema', schema };
  for (const name of names) {
    if (found.is !== 'schema') return found;
    found = step(found.schema, name);
  }
  return found;
};

/** Whether a schema describes what is at a path. */
export const declaresMember = (schema: PayloadSchema, names: readonly string[]): boolean =>
  find(schema, names).is === 'schema';

/** The types that a rule names; null if it is about all actions. */
const namedTypes = (rule: DirectiveRule): readonly string[] | null => {
  const effect = effectIn(2, rule);
  return (effect.kind === 'allow' || effect.kind === 'forbid') && !effect.types.includes('*') ? effect.types : null;
};

/** The declared actions that a rule is about: those that it names, otherwise all, with those that every NPC can do. */
export const actionsOf = (rule: DirectiveRule, set: DeclaringSet): readonly ActionDeclaration[] => {
  const declarations = declarationsOf(set);
  if (declarations === null) return [];
  return namedTypes(rule)?.flatMap((type) => declarations.get(type) ?? []) ?? [...declarations.values()];
};

/** The names of a path behind the payload; null if it leads to nothing in there. */
const payloadNames = ({ root, names }: Path): readonly string[] | null =>
  root === 'action' && names[0] === 'payload' && names.length > 1 ? names.slice(1) : null;

/** Where a condition looks into the payload. */
const payloadPaths = (pair: RuleCondition): readonly (readonly string[])[] => {
  const read = readCondition(pair);
  if (isProblem(read)) return [];
  const paths = isCel(read) ? read.cel.reads.map(pathOf) : [read.path];
  return paths.flatMap((path) => {
    const names = payloadNames(path);
    return names === null ? [] : [names];
  });
};

/** With so many warnings, no further rule is compared; and how many names are compared for each. */
const WARNED_CONDITIONS = 32;
const COMPARED_NAMES = 200;

/** A warning about a path that no declared payload has; null if one has it. */
const pathWarning = (actions: readonly ActionDeclaration[], names: readonly string[]): string | null => {
  const found = actions.map(({ payload }) => (payload === undefined ? ANYTHING : find(payload, names)));
  const never = found.flatMap((one) => (one.is === 'never' ? [one] : []));
  const [first] = never;
  if (first === undefined || never.length < found.length) return null;
  const { name } = first;
  const meant = nearestName(name, never.flatMap(({ known }) => known).slice(0, COMPARED_NAMES));
  const message = `No declared payload has ${shownText(name)}, so nothing is ever at action.payload.${names.join('.')}.`;
  return problemText({ message, meant });
};

/** The members of the payload that rules read although no declared payload can have them: each with a warning. */
export const payloadWarnings = (
  set: DeclaringSet & { readonly rulesetRules: readonly DirectiveRule[] },
): readonly { readonly drRuleId: string; readonly message: string }[] => {
  const warnings: { readonly drRuleId: string; readonly message: string }[] = [];
  for (const [at, rule] of set.rulesetRules.entries()) {
    if (warnings.length >= WARNED_CONDITIONS) {
      const more = set.rulesetRules.length - at;
      const message = `There are so many warnings about payloads that ${more} more ${more === 1 ? 'rule was' : 'rules were'} not looked at.`;
      return [...warnings, { drRuleId: '', message }];
    }
    const isNaming = namedTypes(rule) !== null;
    // Among all actions, those without a schema say nothing.
    const actions = actionsOf(rule, set).filter(({ payload }) => isNaming || payload !== undefined);
    for (const names of rule.ruleCondition.flatMap(payloadPaths)) {
      const message = pathWarning(actions, names);
      if (message !== null) warnings.push({ drRuleId: rule.drRuleId, message });
    }
  }
  return warnings;
};

/** Whether every value of a schema is something. Null and an empty list are nothing, and so is a list of nothing else. */
const isSomething = ({ type, items, minItems = 0 }: PayloadSchema): boolean =>
  type === 'array' ? minItems > 0 && items !== undefined && isSomething(items) : type !== undefined;

/** Whether every value of a schema has something at a path, which goes through the elements of lists. */
const requires = (schema: PayloadSchema, names: readonly string[]): boolean => {
  const [name, ...rest] = names;
  if (name === undefined) return isSomething(schema);
  if (schema.type === 'array') {
    const { items, minItems = 0 } = schema;
    if (items === undefined) return false;
    return isIndex(name) ? Number(name) < minItems && requires(items, rest) : minItems > 0 && requires(items, names);
  }
  const property = propertyOf(schema, name);
  const isRequired = schema.type === 'object' && schema.required?.includes(name) === true;
  return isRequired && property !== undefined && requires(property, rest);
};

/** The actions that a rule is about as far as a member goes, and those of them that can lack it. */
export type Lacking = { readonly types: readonly string[]; readonly lacking: readonly string[] };

/**
 * Which declared actions can lack a member: of a rule about all actions, those whose declared payload has the member.
 * @returns null if no declaration says anything of the member
 */
export const lackingActions = (rule: DirectiveRule, set: DeclaringSet, path: Path): Lacking | null => {
  const names = payloadNames(path);
  if (names === null) return null;
  const all = actionsOf(rule, set);
  const about =
    namedTypes(rule) === null
      ? all.filter(({ payload }) => payload !== undefined && declaresMember(payload, names))
      : all;
  if (about.length === 0) return null;
  const lacking = about.filter(({ payload }) => payload === undefined || !requires(payload, names));
  return { types: about.map(({ type }) => type), lacking: lacking.map(({ type }) => type) };
};

const mayBeList = (found: Found): boolean =>
  found.is === 'anything' || (found.is === 'schema' && (found.schema.type === 'array' || isAlways(found.schema)));

/** Whether the declared payloads leave no room for a list where a condition looks. A list on the way also counts as one. */
export const isNeverList = (rule: DirectiveRule, set: DeclaringSet, pair: RuleCondition): boolean => {
  const [names] = payloadPaths(pair);
  if (names === undefined) return false;
  const schemas = actionsOf(rule, set);
  return (
    schemas.length > 0 &&
    schemas.every(
      ({ payload }) =>
        payload !== undefined && names.every((_, index) => !mayBeList(find(payload, names.slice(0, index + 1)))),
    )
  );
};
