import { type Static, type TObject, Type } from '@sinclair/typebox';

import type { HistoryFilter, HistoryTimes } from '../streams/history-filter.js';
import { defined } from '../base/defined.js';
import { Rejection } from '../base/rejection.js';
import { instantOf } from '../base/timestamp.js';

/** The time range of a query for events. */
export const timesQuery = {
  since: Type.Optional(Type.String({ description: 'Only events at or after this time (RFC 3339).' })),
  until: Type.Optional(Type.String({ description: 'Only events at or before this time (RFC 3339).' })),
};

/** The query of a history. */
export const filterQuery = {
  type: Type.Optional(Type.String({ description: 'Only events of these types, separated by commas.' })),
  turnId: Type.Optional(Type.String({ description: 'Only events of these turns, separated by commas.' })),
  actor: Type.Optional(Type.String({ description: 'Only events by these keys, or by `system`, separated by commas.' })),
  ...timesQuery,
};
type Filter = Static<TObject<typeof filterQuery>>;

const setOf = (list: string | undefined): ReadonlySet<string> | undefined =>
  list === undefined ? undefined : new Set(list.split(','));

/** The time that a member of the query gives, in milliseconds since 1970. @throws Rejection SCHEMA_INVALID if it is not a time */
export const timeOf = (name: 'since' | 'until', text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const timeMs = instantOf(text);
  if (timeMs !== null) return timeMs;
  throw new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ pointer: `/${name}`, message: 'must be an RFC 3339 timestamp' }] },
  });
};

/** @throws Rejection SCHEMA_INVALID if it is not a time */
export const timesOf = ({ since, until }: Static<TObject<typeof timesQuery>>): HistoryTimes =>
  defined({ sinceMs: timeOf('since', since), untilMs: timeOf('until', until) });

/** @throws Rejection SCHEMA_INVALID if it is not a time */
export const filterOf = ({
  type,
  turnId,
  actor,
  since,
  until,
}: Filter): { readonly filter: HistoryFilter; readonly times: HistoryTimes } => ({
  filter: defined({ types: setOf(type), turns: setOf(turnId), actors: setOf(actor) }),
  times: timesOf(defined({ since, until })),
});
