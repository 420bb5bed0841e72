import type { TObject } from '@sinclair/typebox';

import { LONGEST_NAME } from '../../base/alike.js';
import { nearestAmong } from '../../base/nearest.js';
import { Rejection } from '../../base/rejection.js';
import { shortPointerPart } from '../../base/json-pointer.js';

/** How many unknown members a refusal lists. */
const MOST_PROBLEMS = 100;

const shown = (name: string): string => name.slice(0, LONGEST_NAME).toWellFormed();

/**
 * Refuses a body with a member that its schema does not name, where ignoring it would do something else than was meant.
 * @throws Rejection MEMBER_UNKNOWN
 */
export const requireKnownMembers = (body: object, { properties }: TObject): void => {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return;
  const meantBy = nearestAmong(Object.keys(properties), MOST_PROBLEMS);
  const problems = unknown.slice(0, MOST_PROBLEMS).map((name) => {
    const meant = meantBy(name);
    const message = `There is no member ${JSON.stringify(shown(name))}.`;
    return { pointer: `/${shortPointerPart(name, LONGEST_NAME)}`, message, ...(meant === undefined ? {} : { meant }) };
  });
  throw new Rejection('MEMBER_UNKNOWN', { details: { problems } });
};
