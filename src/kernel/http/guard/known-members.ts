import type { TObject } from '@sinclair/typebox';

import { isAlike, LONGEST_NAME } from '../../base/alike.js';
import { isObject } from '../../base/json.js';
import { nearestAmong } from '../../base/nearest.js';
import { Rejection } from '../../base/rejection.js';
import { shortPointerPart } from '../../base/json-pointer.js';

/** How many unknown members a refusal lists. */
const MOST_PROBLEMS = 100;

const shown = (name: string): string => name.slice(0, LONGEST_NAME).toWellFormed();

type Schema = {
  readonly type?: string | readonly string[];
  readonly items?: Pick<TObject, 'properties'>;
};
type Properties = Readonly<Record<string, Schema>>;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** Whether a member can have a value of this kind, as far as its schema says. */
const canBe = ({ type = [] }: Schema, value: unknown): boolean => {
  const types = [type].flat();
  const given = typeOf(value);
  return types.length === 0 || types.includes(given) || (given === 'number' && types.includes('integer'));
};

/** Finds the known name that an unknown one stands for: one that can have its value. */
const meantIn = (properties: Properties): ((name: string, value: unknown) => string | undefined) => {
  const meantBy = nearestAmong(Object.keys(properties), MOST_PROBLEMS);
  return (name, value) => {
    const fits = (known: string): boolean => canBe(properties[known] ?? {}, value);
    const nearest = meantBy(name);
    if (nearest === undefined || value === null || fits(nearest)) return nearest;
    return Object.keys(properties).find((known) => fits(known) && isAlike(name, known));
  };
};

type MemberProblem = { readonly pointer: string; readonly message: string; readonly meant?: string };

/** The unknown members of an object, no more than a refusal lists. */
const unknownIn = (
  holder: object,
  properties: Properties,
  pointer: string,
  meantBy: ReturnType<typeof meantIn>,
): readonly MemberProblem[] =>
  Object.entries(holder)
    .filter(([name]) => !Object.hasOwn(properties, name))
    .slice(0, MOST_PROBLEMS)
    .map(([name, value]) => {
      const meant = meantBy(name, value);
      const message = `There is no member ${JSON.stringify(shown(name))}.`;
      const at = `${pointer}/${shortPointerPart(name, LONGEST_NAME)}`;
      return { pointer: at, message, ...(meant === undefined ? {} : { meant }) };
    });

/** The unknown members in the objects of a list. */
const unknownInList = (list: unknown, { items }: Schema, pointer: string): readonly MemberProblem[] => {
  if (items === undefined || !Array.isArray(list)) return [];
  const { properties = {} } = items as { readonly properties?: Properties };
  if (Object.keys(properties).length === 0) return [];
  const meantBy = meantIn(properties);
  const problems: MemberProblem[] = [];
  for (const [at, one] of (list as readonly unknown[]).entries()) {
    if (problems.length >= MOST_PROBLEMS) break;
    if (isObject(one)) problems.push(...unknownIn(one, properties, `${pointer}/${at}`, meantBy));
  }
  return problems;
};

/**
 * Refuses a body with a member that its schema does not name, where ignoring it would do something else than was meant. It looks at the body itself and
 * at the objects of its lists.
 * @throws Rejection MEMBER_UNKNOWN
 */
export const requireKnownMembers = (body: object, { properties }: Pick<TObject, 'properties'>): void => {
  const schemas = properties as Properties;
  const problems = [
    ...unknownIn(body, schemas, '', meantIn(schemas)),
    ...Object.entries(schemas).flatMap(([name, schema]) =>
      unknownInList((body as Readonly<Record<string, unknown>>)[name], schema, `/${name}`),
    ),
  ].slice(0, MOST_PROBLEMS);
  if (problems.length > 0) throw new Rejection('MEMBER_UNKNOWN', { details: { problems } });
};
