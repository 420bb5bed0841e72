import { Type } from '@sinclair/typebox';

import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { searchUtterances } from '../search-utterances.js';
import { QUERY_CHARACTERS } from '../domain/search-terms.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { UTTERANCE_KINDS, utterances } from '../../../../projections/utterances.js';
import { timeOf } from '../../../kernel/http/history-query.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';

const MAX_HITS = 100;
const DEFAULT_HITS = 20;
/** How many names one filter may have. */
const MAX_NAMES = 100;

const nullableText = Type.Union([Type.String(), Type.Null()]);
const Hit = Type.Object({
  npcId: Type.String(),
  turnId: nullableText,
  revision: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  kind: Type.String({ description: UTTERANCE_KINDS.join(', ') }),
  by: nullableText,
  to: nullableText,
  text: Type.String(),
  snippet: Type.String({ description: '200 characters around the first hit.' }),
  refused: Type.Optional(Type.Literal(true, { description: 'Of a verdict that was refused.' })),
});

const issue = (pointer: string, message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer, message }] } });

const namesOf = (member: string, list: string | undefined): readonly string[] | undefined => {
  const names = list?.split(',');
  if (names !== undefined && names.length > MAX_NAMES)
    throw issue(`/${member}`, `has more than ${String(MAX_NAMES)} names`);
  return names;
};

const kindsOf = (list: string | undefined): readonly string[] | undefined => {
  const kinds = namesOf('kind', list);
  if (kinds?.every((kind) => UTTERANCE_KINDS.some((known) => known === kind)) === false)
    throw issue('/kind', `must be of ${UTTERANCE_KINDS.join(', ')}, separated by commas`);
  return kinds;
};

/** The place that a cursor names. @throws Rejection SCHEMA_INVALID for a cursor that was not made here */
const placeOf = (cursor: string | undefined): number | undefined => {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString();
  if (!/^\d{1,16}$/.test(place) || cursorOf(Number(place)) !== cursor)
    throw issue('/cursor', 'is not a cursor of this search');
  return Number(place);
};

const cursorOf = (place: number): string => Buffer.from(String(place)).toString('base64url');

type SearchRouteDeps = { readonly ports: Ports };

/** `GET /search`. */
export const searchRoute = ({ ports }: SearchRouteDeps): RouteDefinition =>
  route('GET', '/search', {
    operationId: 'search',
    tag: 'Histories',
    summary: 'What was said, by whom and to whom, in all minds of the studio',
    description:
      'Newest first. `q`: words, all of which must be there, without regard to case and accents; `"several words"` in this order; `word*` for what begins so; `-word` must not be there. Without `q` the other filters select. An answer may hold fewer hits than asked for, even none, and still have `next`.',
    scope: 'audit',
    ext: true,
    query: Type.Object({
      q: Type.Optional(Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS })),
      npcId: Type.Optional(Type.String({ description: 'Only in these minds, separated by commas.' })),
      by: Type.Optional(Type.String({ description: 'Only by these minds or players, separated by commas.' })),
      to: Type.Optional(Type.String({ description: 'Only to these minds or players, separated by commas.' })),
      kind: Type.Optional(Type.String({ description: `Of ${UTTERANCE_KINDS.join(', ')}, separated by commas.` })),
      since: Type.Optional(Type.String({ description: 'Only from this time on (RFC 3339), inclusive.' })),
      until: Type.Optional(Type.String({ description: 'Only up to this time (RFC 3339), inclusive.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_HITS, default: DEFAULT_HITS })),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: '`next` of an earlier answer.' })),
    }),
    responses: ok(
      'One page; continue with `cursor` from `next`.',
      Type.Object({ hits: Type.Array(Hit), next: Type.Optional(Type.String()) }),
    ),
    handler: async (call) => {
      const { q, npcId, by, to, kind, since, until, limit = DEFAULT_HITS, cursor } = call.query;
      const { tenant } = call.principal;
      const npcs = namesOf('npcId', npcId);
      const search = {
        ...defined({ q, npcs, by: namesOf('by', by), to: namesOf('to', to), kinds: kindsOf(kind) }),
        ...defined({ sinceMs: timeOf('since', since), untilMs: timeOf('until', until), below: placeOf(cursor) }),
        limit,
      };
      const minimum = minRevision(call);
      // A revision is one of a mind.
      if (npcs?.length === 1) await waitForStream(ports, utterances, npcStream(tenant, npcs[0] ?? ''), minimum);
      else await ports.readModels.reachedPosition(utterances, call.wrote);
      const { hits, next } = await searchUtterances(ports, tenant, search);
      return { body: { hits, ...(next === undefined ? {} : { next: cursorOf(next) }) } };
    },
  });
