import { isObject, type Json, jsonBytes } from '../../../../kernel/base/json.js';
import { shortPointerPart } from '../../../../kernel/base/json-pointer.js';
import { nearestName } from '../../../../kernel/base/nearest.js';
import { type Problem, problem, shownText } from '../conditions/problem.js';
import {
  type AgeWord,
  ageWords,
  COUNT,
  COUNTED,
  HEADING_CHARS,
  INSTRUCTION_CHARS,
  INSTRUCTIONS,
  OWN_PROMPT_BYTES,
  type OwnPrompt,
  promptHeadings,
  partNames,
} from './own-prompt.js';

/** A problem, and the JSON Pointer (RFC 6901) of what it is about, from the prompt. */
export type OwnPromptProblem = Problem & { readonly pointer: string };

const MEMBERS = ['opening', 'headings', 'ages', 'order', 'instructions', 'answer'] as const;
type Member = (typeof MEMBERS)[number];
/** Other words for the members. */
const OTHER_MEMBERS = new Map<string, Member>([
  ...(['intro', 'introduction', 'system', 'beginning', 'start'] as const).map((word) => [word, 'opening'] as const),
  ...(['titles', 'heads', 'sections'] as const).map((word) => [word, 'headings'] as const),
  ...(['parts', 'sequence'] as const).map((word) => [word, 'order'] as const),
  ...(['instruction', 'lines', 'suffix'] as const).map((word) => [word, 'instructions'] as const),
  ...(['answerForm', 'format', 'form', 'response'] as const).map((word) => [word, 'answer'] as const),
]);
/** How much of an unknown name a pointer shows, in UTF-16 units. */
const NAME_CHARS = 128;

const at = (pointer: string, found: Problem | null): readonly OwnPromptProblem[] =>
  found === null ? [] : [{ pointer, ...found }];

const isText = (value: Json): value is string => typeof value === 'string' && value.trim() !== '';

const textProblem = (value: Json): Problem | null => (isText(value) ? null : problem('Must be a text.'));

const lineProblem = (value: Json, chars: number): Problem | null =>
  isText(value) && value.length <= chars && !/[\r\n]/.test(value)
    ? null
    : problem(`Must be one line of 1 to ${chars} characters.`);

const headingProblem = (value: Json): Problem | null => {
  const found = lineProblem(value, HEADING_CHARS);
  if (found !== null || typeof value !== 'string' || !value.trimEnd().endsWith(':')) return found;
  return problem('The colon after a heading is added.', value.trimEnd().slice(0, -1));
};

const ageProblem = (value: Json, name: AgeWord): Problem | null => {
  const found = lineProblem(value, HEADING_CHARS);
  if (found !== null || typeof value !== 'string' || !COUNTED.includes(name) || value.includes(COUNT)) return found;
  return problem(`Must contain ${COUNT} for the number.`);
};

/** What is wrong with an object that has some of these names, and no others. */
const namedProblems = <Name extends string>(
  value: Json,
  names: readonly Name[],
  check: (value: Json, name: Name) => Problem | null,
): readonly OwnPromptProblem[] => {
  if (!isObject(value)) return at('', problem(`Must be an object with ${names.join(', ')}, or some of them.`));
  const isName = (name: string): name is Name => (names as readonly string[]).includes(name);
  return Object.entries<Json>(value).flatMap(([name, one]) => {
    const pointer = `/${shortPointerPart(name, NAME_CHARS)}`;
    if (isName(name)) return at(pointer, check(one, name));
    return at(pointer, problem(`There is no member ${shownText(name)}.`, nearestName(name, names)));
  });
};

const orderProblems = (value: Json): readonly OwnPromptProblem[] => {
  const all = partNames.join(', ');
  if (!Array.isArray(value)) return at('', problem(`Must list parts: ${all}.`));
  const list = value as readonly Json[];
  if (list.length > partNames.length) return at('', problem('Each part stands once.'));
  return list.flatMap((one, place) => {
    const pointer = `/${String(place)}`;
    if (!(partNames as readonly Json[]).includes(one)) {
      const meant = typeof one === 'string' ? nearestName(one, partNames) : undefined;
      return at(pointer, problem(`Must be a part: ${all}.`, meant));
    }
    return at(pointer, list.indexOf(one) === place ? null : problem('Each part stands once.'));
  });
};

const instructionsProblems = (value: Json): readonly OwnPromptProblem[] =>
  Array.isArray(value) && value.length <= INSTRUCTIONS
    ? (value as readonly Json[]).flatMap((one, place) => at(`/${String(place)}`, lineProblem(one, INSTRUCTION_CHARS)))
    : at('', problem(`Must be a list of at most ${INSTRUCTIONS} lines.`));

const answerProblem = (value: Json): Problem | null =>
  !isText(value)
    ? textProblem(value)
    : value.includes('"dialogue"')
      ? null
      : problem('Must ask for an object with "dialogue": only that is spoken.');

const checks: Readonly<Record<Member, (value: Json) => readonly OwnPromptProblem[]>> = {
  opening: (value) => at('', textProblem(value)),
  headings: (value) => namedProblems(value, promptHeadings, headingProblem),
  ages: (value) => namedProblems(value, ageWords, ageProblem),
  order: orderProblems,
  instructions: instructionsProblems,
  answer: (value) => at('', answerProblem(value)),
};

const isMember = (name: string): name is Member => (MEMBERS as readonly string[]).includes(name);

/** As everywhere in a set, null and the empty string are no value; nor is an object or a list without any. */
const isGiven = (value: Json): boolean =>
  value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0);

const given = (body: Json): Json =>
  isObject(body)
    ? Object.fromEntries(
        Object.entries<Json>(body)
          .map(([name, value]) => [name, given(value)] as const)
          .filter(([, value]) => isGiven(value)),
      )
    : body;

/** The prompt of a set, null if it has none, or what is wrong with it. */
export type ReadOwnPrompt = { readonly prompt: OwnPrompt | null; readonly problems: readonly OwnPromptProblem[] };

const refused = (message: string): ReadOwnPrompt => ({ prompt: null, problems: [{ pointer: '', message }] });

/** Reads how the prompts of a set differ, or finds what is wrong with it. */
export const readOwnPrompt = (body: Json | undefined): ReadOwnPrompt => {
  if (body === undefined || body === null || body === '') return { prompt: null, problems: [] };
  if (!isObject(body)) return refused(`Must be an object with ${MEMBERS.join(', ')}, or some of them.`);
  if (jsonBytes(body) > OWN_PROMPT_BYTES) return refused(`Must have at most ${OWN_PROMPT_BYTES} bytes of JSON.`);
  const members = Object.entries<Json>(given(body) as typeof body);
  const problems = members.flatMap(([name, value]): readonly OwnPromptProblem[] => {
    const pointer = `/${shortPointerPart(name, NAME_CHARS)}`;
    if (isMember(name)) return checks[name](value).map((one) => ({ ...one, pointer: pointer + one.pointer }));
    const meant = OTHER_MEMBERS.get(name) ?? nearestName(name, MEMBERS);
    return at(pointer, problem(`There is no member ${shownText(name)}.`, meant));
  });
  const isNone = members.length === 0 || problems.length > 0;
  return { prompt: isNone ? null : Object.fromEntries(members), problems };
};
