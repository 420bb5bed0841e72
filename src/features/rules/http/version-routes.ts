import { Type } from '@sinclair/typebox';

import { Rejection } from '../../../kernel/base/rejection.js';
import { rulesetStream } from '../../../kernel/base/stream-names.js';
import { named } from '../../../kernel/http/named.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { pathClientId } from '../../../kernel/http/schemas.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { Ports } from '../../../ports/ports.js';
import { revisionOfVersion, type RulesetState } from '../domain/state.js';
import { rulesetFold } from '../ruleset-fold.js';
import { rulesetVersions } from '../ruleset-versions.js';
import { ruleExamples as examples } from './examples.js';

/** How many versions a page has if the request does not say. */
const DEFAULT_VERSIONS = 100;

const time = Type.String({ format: 'date-time' });
const Version = named(
  'RuleSetVersion',
  Type.Object({
    version: Type.Integer(),
    registeredAt: time,
    digest: Type.String({ description: 'The SHA-256 of its JCS form, base64url.' }),
    grammar: Type.Unsafe<1 | 2>({ type: 'integer', enum: [1, 2] }),
    rules: Type.Integer({ description: 'How many rules it has.' }),
    deletedAt: Type.Optional({
      ...time,
      description: 'When the set was deleted, if this was then its newest version.',
    }),
  }),
);
const VersionList = named('RuleSetVersionList', Type.Array(Version));

/** The revision before the version that a cursor names. @throws Rejection SCHEMA_INVALID if there is no such version */
const revisionBefore = (state: RulesetState, beyond: string): number => {
  const revision = /^[1-9]\d{0,14}$/.test(beyond) ? revisionOfVersion(state, Number(beyond)) : null;
  if (revision !== null) return revision - 1;
  throw new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ pointer: '/cursor', message: 'is not a cursor of this list' }] },
  });
};

type VersionRouteDeps = { readonly ports: Pick<Ports, 'events'>; readonly writers: StreamWriters };

/** `GET /rules/{rulesetId}/versions`. */
export const rulesetVersionsRoute = ({ ports, writers }: VersionRouteDeps): RouteDefinition =>
  route('GET', '/rules/:rulesetId/versions', {
    operationId: 'listRuleVersions',
    tag: 'Rules',
    summary: 'List the versions of a rule set',
    description: 'Newest first; 100 by default. The versions of a deleted set stay listed.',
    scope: 'rules',
    ext: true,
    params: Type.Object({ rulesetId: pathClientId('The id of the rule set.', 'tavern') }),
    query: Type.Object(pageQuery),
    refuses: ['RULESET_NOT_FOUND'],
    responses: ok('The versions; `Link` names the next page.', VersionList, examples.versions),
    handler: async (call) => {
      const { rulesetId } = call.params;
      const page = pageOf({ limit: DEFAULT_VERSIONS, ...call.query });
      const stream = rulesetStream(call.principal.tenant, rulesetId);
      const { state, revision } = await writers.current(stream, rulesetFold);
      if (state.latest === null) throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId } });
      const upTo = page.beyond === undefined ? revision : revisionBefore(state, page.beyond);
      if (upTo < 0) return { body: [] };
      const { versions, more } = await rulesetVersions(ports.events, stream, upTo, page);
      const items = versions.map(({ version }) => ({ order: String(version) }));
      return { headers: nextLink(call, page, items, more), body: versions };
    },
  });
