import { isMisspelt } from '../../../../kernel/base/alike.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import { isActionType } from '../../../rules/domain/action-type.js';
import { type Problem, problem, shownText } from '../../../rules/domain/conditions/problem.js';
import type { ExpectedVerdict, RuleCase, RuleTests } from './rule-case.js';
import { shortPointerPart } from '../../../../kernel/base/json-pointer.js';

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
  body: { cases: 'anything', ruleset: 'anything', rulesetId: 'anything', version: 'anything' },
  case: { name: 'text', given: 'object', when: 'object', then: 'object' },
  given: { state: 'object', npcState: 'object', facts: 'object', context: 'object' },
  when: { observation: 'text', output: 'text', action: 'anything', dialogue: 'text', stateDelta: 'anything' },
  'when.action': { type: 'text', target: 'text', reason: 'text', confidence: 'anything', payload: 'anything' },
  then: {
    ...{ valid: 'boolean', action: 'object', reason: 'text', drRuleId: 'text', dialogue: 'text' },
    ...{ stateDelta: 'object', replacedBy: 'text', matched: 'list of texts' },
  },
  'then.action': { type: 'text', target: 'text', payload: 'anything' },
} as const satisfies Readonly<Record<string, Members>>;
type Place = keyof typeof MEMBERS;

/** Names of the protocol and of other test tools, and what they are called here. */
const OTHER_NAMES: Readonly<Partial<Record<Place, Readonly<Record<string, string>>>>> = {
  '': { rules: 'ruleset', tests: 'cases' },
  body: { rules: 'ruleset', tests: 'cases', id: 'rulesetId', name: 'rulesetId', rulesetName: 'rulesetId' },
  case: { expect: 'then', expected: 'then', input: 'when', title: 'name' },
  given: { data: 'state' },
  when: { generatedOutput: 'output', text: 'output', stateTransform: 'stateDelta' },
  then: { ruleId: 'drRuleId', rule: 'drRuleId', drRule: 'drRuleId', message: 'reason' },
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
/** What other languages, and older YAML, call true and false. */
const BOOLEANS: Readonly<Record<string, string>> = { yes: 'true', on: 'true', no: 'false', off: 'false' };

const wrongKind = (kind: Kind, value: Json): Problem => {
  if (kind === 'text' && (typeof value === 'number' || typeof value === 'boolean'))
    return problem('Must be a text. Put it in quotes.', JSON.stringify(String(value)));
  const written = typeof value === 'string' ? value.toLowerCase() : '';
  const meant = Object.hasOwn(BOOLEANS, written) ? BOOLEANS[written] : undefined;
  return problem(`Must be ${KINDS[kind]}.`, kind === 'boolean' ? meant : undefined);
};

// Problems are found one by one, so that whoever asks for the first hundred pays for no more.
type Problems = Generator<RuleTestProblem, void, undefined>;

const NAME_CHARS = 128;

const isOfAction = (place: Place): boolean => place === 'when.action' || place === 'then.action';

/** Unknown members, and members of the wrong kind. */
function* shapeProblems(place: Place, holder: JsonObject, at: string): Problems {
  const members: Members = MEMBERS[place];
  for (const name of Object.keys(holder)) {
    const value = holder[name] as Json;
    const kind = Object.hasOwn(members, name) ? members[name] : undefined;
    const pointer = `${at}/${shortPointerPart(name, NAME_CHARS)}`;
    if (kind === undefined) {
      const meant = meantBy(place, name);
      if (meant === undefined && isOfAction(place)) {
        yield {
          pointer,
          ...problem(`An action has no member ${shownText(name)}. Put it in its payload.`, `payload.${name}`),
        };
        continue;
      }
      // What follows a comma in an inline mapping of YAML is a member without a value.
      const hint = value === null ? ' If it is part of a text with a comma, put the text in quotes.' : '';
      yield { pointer, ...problem(`There is no member ${shownText(name)}.${hint}`, meant) };
    } else if (!isOf(kind, value)) {
      const isType = kind === 'object' && name === 'action' && typeof value === 'string' && isActionType(value);
      yield { pointer, ...(isType ? problem('Must be an object.', `{type: ${value}}`) : wrongKind(kind, value)) };
    }
  }
}

const objectIn = (holder: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return isObject(value) ? value : {};
};

function* missing(holder: JsonObject, names: readonly string[], at: string): Problems {
  for (const name of names)
    if (!Object.hasOwn(holder, name)) yield { pointer: at, message: `The member ${name} is missing.` };
}

/** The parts of what a model writes, from which a case can make it. */
const PARTS = ['dialogue', 'action', 'stateDelta'];

function* whenProblems(when: JsonObject, at: string): Problems {
  const parts = PARTS.filter((name) => Object.hasOwn(when, name));
  if (Object.hasOwn(when, 'output')) {
    const message = 'output is all that the model writes, so nothing can be added to it.';
    for (const name of parts) yield { pointer: `${at}/${name}`, message };
  } else if (parts.length === 0)
    yield {
      pointer: at,
      message: 'Say what the model writes: output, or one or more of dialogue, action, stateDelta.',
    };
  else yield* shapeProblems('when.action', objectIn(when, 'action'), `${at}/action`);
}

function* caseProblems(one: Json, at: string): Problems {
  if (!isObject(one)) {
    yield { pointer: at, message: 'Must be an object.' };
    return;
  }
  const given = objectIn(one, 'given');
  const when = objectIn(one, 'when');
  const then = objectIn(one, 'then');
  yield* shapeProblems('case', one, at);
  yield* missing(one, ['name', 'when', 'then'], at);
  yield* shapeProblems('given', given, `${at}/given`);
  yield* shapeProblems('when', when, `${at}/when`);
  if (isObject(one['when'])) yield* whenProblems(when, `${at}/when`);
  yield* shapeProblems('then', then, `${at}/then`);
  yield* shapeProblems('then.action', objectIn(then, 'action'), `${at}/then/action`);
  if (isObject(then['action']) && Object.keys(then['action']).length === 0)
    yield { pointer: `${at}/then/action`, message: 'Say what the action must have.' };
  if (isObject(one['then'])) yield* missing(then, ['valid'], `${at}/then`);
}

/** What the model writes: the output as it is, or JSON made of its parts. */
export const outputOf = (when: JsonObject): string => {
  const { output } = when as { readonly output?: Json };
  if (typeof output === 'string') return output;
  return JSON.stringify(
    Object.fromEntries(PARTS.flatMap((name) => (Object.hasOwn(when, name) ? [[name, when[name]]] : []))),
  );
};

type Given = Partial<Record<'state' | 'npcState' | 'facts' | 'context', JsonObject>>;

const caseOf = (one: JsonObject): RuleCase => {
  const { state = {}, npcState = {}, facts = {}, context = {} } = objectIn(one, 'given') as Given;
  const when = objectIn(one, 'when');
  const { observation = '' } = when as { readonly observation?: string };
  return {
    name: one['name'] as string,
    ...{ state, npcState, facts, context, observation },
    output: outputOf(when),
    expected: objectIn(one, 'then') as unknown as ExpectedVerdict,
  };
};

/** How many problems are looked for. */
const MOST_PROBLEMS = 100;

/** The unknown members of a request that is not a file: a set under another name would not be the one that is tested. */
export const bodyProblems = (body: JsonObject): readonly RuleTestProblem[] => {
  const problems: RuleTestProblem[] = [];
  for (const found of shapeProblems('body', body, '')) {
    problems.push(found);
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
};

/**
 * Reads the cases of a file, in slices of one case. Every member of a case and its parts must be known, and no name may occur twice, because a report
 * could not tell such cases apart.
 */
export function* readRuleCases(
  all: readonly Json[],
): Sliced<{ readonly cases: readonly RuleCase[] } | { readonly problems: readonly RuleTestProblem[] }> {
  const names = new Set<Json>();
  const problems: RuleTestProblem[] = [];
  const cases: RuleCase[] = [];
  for (const [position, one] of all.entries()) {
    const at = `/cases/${String(position)}`;
    const before = problems.length;
    for (const found of caseProblems(one, at)) {
      problems.push(found);
      if (problems.length === MOST_PROBLEMS) return { problems };
    }
    const name = isObject(one) ? one['name'] : undefined;
    if (typeof name === 'string' && names.size === names.add(name).size)
      problems.push({ pointer: `${at}/name`, message: `Another case is named ${shownText(name)}.` });
    if (problems.length === MOST_PROBLEMS) return { problems };
    if (problems.length === before) cases.push(caseOf(one as JsonObject));
    yield 1;
  }
  return problems.length > 0 ? { problems } : { cases };
}

/** Reads the content of a file of tests. Every member of a file, a case and its parts must be known. */
export function* readRuleTests(
  content: Json,
): Sliced<{ readonly tests: RuleTests } | { readonly problems: readonly RuleTestProblem[] }> {
  if (!isObject(content)) return { problems: [{ pointer: '', message: 'Must be an object with ruleset and cases.' }] };
  const { ruleset, cases = [] } = content as Partial<Record<'ruleset' | 'cases', Json>>;
  const problems = [...shapeProblems('', content, ''), ...missing(content, ['ruleset', 'cases'], '')];
  const read = yield* readRuleCases(Array.isArray(cases) ? (cases as readonly Json[]) : []);
  if (problems.length > 0 || 'problems' in read)
    return { problems: 'problems' in read ? [...problems, ...read.problems] : problems };
  return { tests: { ruleset: ruleset as string | JsonObject, cases: read.cases } };
}
