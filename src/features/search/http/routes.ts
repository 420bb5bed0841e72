import { Type } from '@sinclair/typebox';

import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { searchUtterances } from '../search-utterances.js';
import { splitNames } from '../domain/name-list.js';
import { QUERY_CHARACTERS } from '../domain/search-terms.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { UTTERANCE_KINDS, utterances } from '../../../../projections/utterances.js';
import { timeOf } from '../../../kernel/http/history-query.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { oneOf } from '../../../kernel/http/schemas.js';
import { searchExamples as examples } from './examples.js';

const MAX_HITS = 100;
const DEFAULT_HITS = 20;
/** How many names all filters may have together: the index looks each of them up before it finds anything. */
const MAX_NAMES = 100;

const nullableText = Type.Union([Type.String(), Type.Null()]);
const SearchHit = named(
  'SearchHit',
  Type.Object({
    npcId: Type.String(),
    turnId: nullableText,
    revision: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    kind: oneOf(UTTERANCE_KINDS),
    by: nullableText,
    to: nullableText,
    text: Type.String(),
    snippet: Type.String({ description: '200 characters around the first match.' }),
    player: Type.Optional(
      Type.String({ description: 'The player of its turn or memory: the id, or the name if no id is known.' }),
    ),
    actor: Type.Optional(Type.String({ description: 'The key whose request recorded it, or `system`.' })),
    action: Type.Optional(Type.String({ description: 'Of a verdict: the type of its action.' })),
    drRuleId: Type.Optional(
      Type.String({ description: 'Of a verdict: the rule that refused it, or that replaced its action.' }),
    ),
    refused: Type.Optional(Type.Literal(true, { description: 'It is from a verdict that was refused.' })),
    code: Type.Optional(Type.String({ description: 'Of a refused verdict: why it was refused.' })),
    memoryId: Type.Optional(
      Type.String({ description: 'Of a memory, also if it repeats what its turn heard or said.' }),
    ),
    retracted: Type.Optional(Type.Literal(true, { description: 'The memory has been retracted since.' })),
  }),
);
const SearchResult = named(
  'SearchResult',
  Type.Object({
    hits: Type.Array(SearchHit),
    next: Type.Optional(Type.String({ description: 'Send it as `cursor` to continue.' })),
  }),
);

const issue = (pointer: string, message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer, message }] } });

/** @throws Rejection SCHEMA_INVALID for an unknown kind */
const requireKinds = (kinds: readonly string[] | undefined): void => {
  if (kinds?.every((kind) => UTTERANCE_KINDS.some((known) => known === kind)) === false)
    throw issue('/kind', `must be one or more of ${UTTERANCE_KINDS.join(', ')}, separated by commas`);
};

type Lists = 'npcId' | 'by' | 'to' | 'kind' | 'drRuleId' | 'action' | 'player' | 'actor';

/** The names that each filter selects. @throws Rejection SCHEMA_INVALID for too many, or an unknown kind */
const filtersOf = (query: Readonly<Partial<Record<Lists, string>>> & { readonly refused?: boolean }) => {
  let count = 0;
  const list = (member: Lists): readonly string[] | undefined => {
    const names = query[member] === undefined ? undefined : splitNames(query[member]);
    count += names?.length ?? 0;
    if (count > MAX_NAMES)
      throw issue(`/${member}`, `brings all filters together to more than ${String(MAX_NAMES)} names`);
    return names;
  };
  const kind = list('kind');
  requireKinds(kind);
  return defined({
    ...{ npc: list('npcId'), by: list('by'), to: list('to'), kind, rule: list('drRuleId') },
    ...{ action: list('action'), player: list('player'), actor: list('actor') },
    refused: query.refused === undefined ? undefined : [String(query.refused)],
  });
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
    tag: 'Search',
    summary: 'Search what was said',
    description:
      'Searches the histories of all NPCs, newest first. `q` is a list of words that must all occur; case and accents do not matter. `"several words"` must occur in this order, `word*` matches a prefix, and `-word` must not occur. Without `q` only the filters apply, so that `refused=true` alone lists all refusals. Filters take at most 100 names together, separated by commas; write a comma within a name as `\\,` and a backslash as `\\\\`. A page may have fewer hits than `limit`, even none, and still have `next`.',
    scope: 'audit',
    ext: true,
    query: Type.Object({
      q: Type.Optional(Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS, description: 'The words to find.' })),
      npcId: Type.Optional(Type.String({ description: 'Only in the histories of these NPCs, separated by commas.' })),
      by: Type.Optional(
        Type.String({ description: 'Only if one of these NPCs or players said it, separated by commas.' }),
      ),
      to: Type.Optional(
        Type.String({ description: 'Only if it was said to one of these NPCs or players, separated by commas.' }),
      ),
      kind: Type.Optional(Type.String({ description: `Any of ${UTTERANCE_KINDS.join(', ')}, separated by commas.` })),
      refused: Type.Optional(
        Type.Boolean({ description: '`true`: only of refused verdicts. `false`: everything else.' }),
      ),
      drRuleId: Type.Optional(
        Type.String({
          description: 'Only of verdicts that one of these rules refused or changed, separated by commas.',
        }),
      ),
      action: Type.Optional(
        Type.String({ description: 'Only of verdicts with one of these types of action, separated by commas.' }),
      ),
      player: Type.Optional(
        Type.String({ description: 'Only if one of these players took part, by id or name, separated by commas.' }),
      ),
      actor: Type.Optional(
        Type.String({ description: 'Only if one of these keys recorded it, by id, separated by commas.' }),
      ),
      since: Type.Optional(Type.String({ description: 'Only at or after this time (RFC 3339).' })),
      until: Type.Optional(Type.String({ description: 'Only at or before this time (RFC 3339).' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_HITS, default: DEFAULT_HITS })),
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'The `next` of the previous page.' }),
      ),
    }),
    reads: ['Anima-Min-Revision'],
    responses: ok('One page; continue with `cursor` from `next`.', SearchResult, examples.found),
    handler: async (call) => {
      const { q, since, until, limit = DEFAULT_HITS, cursor } = call.query;
      const { tenant } = call.principal;
      const filters = filtersOf(call.query);
      const search = {
        filters,
        ...defined({ q, sinceMs: timeOf('since', since), untilMs: timeOf('until', until), below: placeOf(cursor) }),
        limit,
      };
      const minimum = minRevision(call);
      // A revision is one of a mind.
      const [npcId, ...others] = filters.npc ?? [];
      if (npcId !== undefined && others.length === 0)
        await waitForStream(ports, utterances, npcStream(tenant, npcId), minimum);
      else await ports.readModels.reachedPosition(utterances, call.wrote);
      const { hits, next } = await searchUtterances(ports, tenant, search);
      return { body: { hits, ...(next === undefined ? {} : { next: cursorOf(next) }) } };
    },
  });
