import { isMisspelt } from '../../../../kernel/base/alike.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { type Problem, problem, shownText } from '../../../rules/domain/conditions/problem.js';
import type { ExpectedVerdict, RuleCase, RuleTests } from './rule-case.js';

/** Why a file of tests cannot be used: where, and what was probably meant. */
export type RuleTestProblem = Problem & {
  /** The JSON Pointer (RFC 6901) of the member. */
  readonly pointer: string;
};

type Kind = 'text' | 'object' | 'list' | 'list of texts' | 'boolean' | 'text or object' | 'anything';
type Members = Readonly<Record<string, Kind>>;

/** The members of each object of a file, by the place of the object. */
const MEMBERS = {
  '': { ruleset: 'text or object', cases: 'list' },
  case: { name: 'text', given: 'object', when: 'object', then: 'object' },
  given: { state: 'object', facts: 'object', context: 'object' },
  when: { observation: 'text', output: 'text', action: 'anything', dialogue: 'text', stateDelta: 'anything' },
  'when.action': { type: 'text', target: 'text', reason: 'text', confidence: 'anything', payload: 'anything' },
  then: {
    ...{ valid: 'boolean', action: 'object', reason: 'text', drRuleId: 'text', dialogue: 'text' },
    ...{ stateDelta: 'object', replacedBy: 'text', matched: 'list of texts' },
  },
  'then.action': { type: 'text', target: 'text' },
} as const satisfies Readonly<Record<string, Members>>;
type Place = keyof typeof MEMBERS;

/** Names of the protocol and of other test tools, and what they are called here. */
const OTHER_NAMES: Readonly<Partial<Record<Place, Readonly<Record<string, string>>>>> = {
  '': { rules: 'ruleset', tests: 'cases' },
  case: { expect: 'then', expected: 'then', input: 'when', title: 'name' },
  given: { npcState: 'state', data: 'state' },
  when: { generatedOutput: 'output', text: 'output', stateTransform: 'stateDelta' },
  then: { ruleId: 'drRuleId', rule: 'drRuleId', message: 'reason' },
};
/** Where else a member of a case may belong. */
const PLACES_OF_A_CASE = ['given', 'when', 'then'] as const;

/** The name that was probably meant by an unknown one: of the same object, or of another object of the case. */
const meantBy = (place: Place, written: string): string | undefined => {
  const known = Object.keys(MEMBERS[place]);
  const others = Object.entries(OTHER_NAMES[place] ?? {});
  const meant =
    known.find((name) => isMisspelt(written, name)) ?? others.find(([name]) => isMisspelt(written, name))?.[1];
  if (meant !== undefined || !['case', ...PLACES_OF_A_CASE].includes(place)) return meant;
  const home = PLACES_OF_A_CASE.find((other) => Object.hasOwn(MEMBERS[other], written));
  return home === undefined ? undefined : `${home}.${written}`;
};

const isOf = (kind: Kind, value: Json): boolean => {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'object':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'list of texts':
      return Array.isArray(value) && value.every((one) => typeof one === 'string');
    case 'boolean':
      return typeof value === 'boolean';
    case 'text or object':
      return typeof value === 'string' || isObject(value);
    case 'anything':
      return true;
  }
};
const KINDS: Readonly<Record<Kind, string>> = {
  ...{
    text: 'a text',
    object: 'an object',
    list: 'a list',
    'list of texts': 'a list of texts',
    boolean: 'true or false',
  },
  ...{ 'text or object': 'a path or a ruleset', anything: 'a value' },
};

const escapedName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Unknown members, and members of the wrong kind. */
const shapeProblems = (place: Place, holder: JsonObject, at: string): readonly RuleTestProblem[] =>
  Object.entries(holder).flatMap(([name, value]): readonly RuleTestProblem[] => {
    const members: Members = MEMBERS[place];
    const kind = Object.hasOwn(members, name) ? members[name] : undefined;
    const pointer = `${at}/${escapedName(name)}`;
    if (kind === undefined)
      return [{ pointer, ...problem(`There is no member ${shownText(name)}.`, meantBy(place, name)) }];
    return isOf(kind, value) ? [] : [{ pointer, message: `Must be ${KINDS[kind]}.` }];
  });

const objectIn = (holder: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return isObject(value) ? value : {};
};

const missing = (holder: JsonObject, names: readonly string[], at: string): readonly RuleTestProblem[] =>
  names
    .filter((name) => !Object.hasOwn(holder, name))
    .map((name) => ({ pointer: at, message: `The member ${name} is missing.` }));

/** The parts of what a model writes, from which a case can make it. */
const PARTS = ['dialogue', 'action', 'stateDelta'];

const whenProblems = (when: JsonObject, at: string): readonly RuleTestProblem[] => {
  const parts = PARTS.filter((name) => Object.hasOwn(when, name));
  const { action } = when as { readonly action?: Json };
  const actionProblems = isObject(action) ? shapeProblems('when.action', action, `${at}/action`) : [];
  if (!Object.hasOwn(when, 'output'))
    return parts.length > 0
      ? actionProblems
      : [
          {
            pointer: at,
            message: 'Say what the model writes: output, or one or more of dialogue, action, stateDelta.',
          },
        ];
  return parts.map((name) => ({
    pointer: `${at}/${name}`,
    message: 'output is all that the model writes, so nothing can be added to it.',
  }));
};

const caseProblems = (one: Json, at: string): readonly RuleTestProblem[] => {
  if (!isObject(one)) return [{ pointer: at, message: 'Must be an object.' }];
  const [given, when, then] = ['given', 'when', 'then'].map((name) => objectIn(one, name)) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ];
  return [
    ...shapeProblems('case', one, at),
    ...missing(one, ['name', 'when', 'then'], at),
    ...shapeProblems('given', given, `${at}/given`),
    ...shapeProblems('when', when, `${at}/when`),
    ...(isObject(one['when']) ? whenProblems(when, `${at}/when`) : []),
    ...shapeProblems('then', then, `${at}/then`),
    ...shapeProblems('then.action', objectIn(then, 'action'), `${at}/then/action`),
    ...(isObject(one['then']) ? missing(then, ['valid'], `${at}/then`) : []),
  ];
};

/** Cases with the name of an earlier one: a report could not tell them apart. */
const repeatedNames = (cases: readonly Json[]): readonly RuleTestProblem[] => {
  const seen = new Set<string>();
  return cases.flatMap((one, at) => {
    const name = isObject(one) ? one['name'] : undefined;
    if (typeof name !== 'string' || seen.size !== seen.add(name).size) return [];
    return [{ pointer: `/cases/${String(at)}/name`, message: `Another case is named ${shownText(name)}.` }];
  });
};

/** What the model writes: the output as it is, or JSON made of its parts. */
const outputOf = (when: JsonObject): string => {
  const { output } = when as { readonly output?: Json };
  if (typeof output === 'string') return output;
  return JSON.stringify(
    Object.fromEntries(PARTS.flatMap((name) => (Object.hasOwn(when, name) ? [[name, when[name]]] : []))),
  );
};

const caseOf = (one: JsonObject): RuleCase => {
  const { state, facts, context } = objectIn(one, 'given') as Partial<
    Record<'state' | 'facts' | 'context', JsonObject>
  >;
  const when = objectIn(one, 'when');
  const { observation = '' } = when as { readonly observation?: string };
  return {
    name: one['name'] as string,
    ...{ state: state ?? {}, facts: facts ?? {}, context: context ?? {} },
    observation,
    output: outputOf(when),
    expected: objectIn(one, 'then') as unknown as ExpectedVerdict,
  };
};

/** Reads the content of a file of tests. Every member of a file, a case and its parts must be known. */
export const readRuleTests = (
  content: Json,
): { readonly tests: RuleTests } | { readonly problems: readonly RuleTestProblem[] } => {
  if (!isObject(content)) return { problems: [{ pointer: '', message: 'Must be an object with ruleset and cases.' }] };
  const cases: readonly Json[] = Array.isArray(content['cases']) ? (content['cases'] as readonly Json[]) : [];
  const problems = [
    ...shapeProblems('', content, ''),
    ...missing(content, ['ruleset', 'cases'], ''),
    ...cases.flatMap((one, at) => caseProblems(one, `/cases/${String(at)}`)),
    ...repeatedNames(cases),
  ];
  return problems.length > 0
    ? { problems }
    : { tests: { ruleset: content['ruleset'] as string | JsonObject, cases: cases.filter(isObject).map(caseOf) } };
};
