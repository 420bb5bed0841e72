import { isObject, type Json, type JsonObject } from '../../kernel/base/json.js';
import type { RefusedMember } from './attempt-failed.js';

/** The member that a refused system message counts as. */
export const SYSTEM = 'system';
/** Every request needs these. */
const NEEDED: ReadonlySet<string> = new Set(['model', 'messages', 'stream']);
/** How servers and chat templates say that a model has no system message. */
const NO_SYSTEM =
  /\bsystem\b.{0,20}\b(?:role|message|prompt|instruction)s?\b|\brole\b.{0,20}\bsystem\b|\bdeveloper instruction\b|\broles must alternate\b/i;
/** How servers say that they do not know a member, whatever its value. */
const UNKNOWN =
  /unsupported parameter|not supported|does not support|unknown|unrecognized|unrecognised|unexpected|extra inputs|not permitted|not allowed|deprecated/i;
/** Codes of errors that are about a value. */
const OF_VALUE = /value/i;
/** How much of a message is searched, in characters. */
const MESSAGE_CHARS = 2_000;
/** How many problems of a list are read. */
const PROBLEMS = 8;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value.slice(0, MESSAGE_CHARS) : '');

/** A problem in a list: FastAPI's `{loc: ["body", "max_tokens"], msg}`. */
const placeOf = (problem: Json): readonly string[] => {
  if (!isObject(problem)) return [textOf(problem)];
  const { loc } = problem;
  const place = Array.isArray(loc) ? (loc as readonly Json[]).slice(0, PROBLEMS).map(textOf) : [];
  return [...place, textOf(problem['msg'])];
};

const listed = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).slice(0, PROBLEMS).flatMap(placeOf) : [textOf(value)];

/** What an error says, the most definite first. Other parts of it may repeat the prompt. */
const saidIn = (error: JsonObject): readonly string[] => {
  const inner = error['error'];
  const { param, message, detail } = isObject(inner) ? inner : error;
  return [textOf(param), ...listed(detail), textOf(message), textOf(inner)].filter((text) => text !== '');
};

const isUnknownIn = (error: JsonObject): boolean => {
  const inner = error['error'];
  const { code } = isObject(inner) ? inner : error;
  return (
    !OF_VALUE.test(textOf(code)) &&
    [textOf(code).replaceAll('_', ' '), ...saidIn(error)].some((one) => UNKNOWN.test(one))
  );
};

/** Where a name stands in a text as a word of its own; infinite if it does not. */
const placeIn = (text: string, name: string): number => {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/[\w-]/.test(around)) return at;
  }
  return Infinity;
};

const hasSystem = ({ messages }: JsonObject): boolean =>
  Array.isArray(messages) && (messages as readonly Json[]).some((one) => isObject(one) && one['role'] === SYSTEM);

/**
 * The member of a request that its refusal names, `SYSTEM` for a system message; null if it names none that could be left out.
 * Where a text names several, the first one is refused, and the others are advice.
 */
export const refusedMember = (text: string, body: JsonObject): RefusedMember | null => {
  let error: unknown;
  try {
    error = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(error)) return null;
  const names = Object.keys(body).filter((name) => !NEEDED.has(name));
  for (const said of saidIn(error)) {
    const [first] = names
      .map((name) => ({ name, at: placeIn(said, name) }))
      .filter(({ at }) => at !== Infinity)
      .toSorted((one, other) => one.at - other.at);
    if (first !== undefined) return { name: first.name, isUnknown: isUnknownIn(error) };
    if (NO_SYSTEM.test(said) && hasSystem(body)) return { name: SYSTEM, isUnknown: true };
  }
  return null;
};
