import { Type } from '@sinclair/typebox';

import { type NpcRow, npcs } from '../../../../projections/npcs.js';
import { type CoveragePlace, recordedCoverage } from '../recorded-coverage.js';
import { requireRevision } from '../../npcs/find-mind.js';
import { askedVersion } from '../../rules/asked-version.js';
import { ContentDigest } from '../../rules/body-schemas.js';
import { rulesetDigest } from '../../rules/ruleset-digest.js';
import type { RulesetUsed } from '../../rules/domain/ruleset.js';
import type { Rulesets } from '../../rules/rulesets.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { findReplay } from '../run-replay.js';
import { noFindings } from '../domain/findings.js';
import { replayCoverage } from '../domain/replay-coverage.js';
import { COVERAGE_SAMPLES } from '../domain/rule-coverage.js';
import { yieldToEventLoop } from '../../../kernel/concurrency/yield-to-event-loop.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { ReadModels } from '../../../ports/read-models.js';
import { timesOf, timesQuery } from '../../../kernel/http/history-query.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, oneOf, pathId } from '../../../kernel/http/schemas.js';
import { coverageExamples as examples } from './examples.js';

const RuleCoverage = named(
  'RuleCoverage',
  Type.Object({
    drRuleId: Type.String(),
    ruleName: Type.String(),
    fired: Type.Integer({ description: 'In how many decisions it matched.' }),
    decided: Type.Integer({ description: 'In how many decisions the action or the refusal came from it.' }),
    shadowed: Type.Integer({ description: 'In how many decisions it matched, but a rule above it decided.' }),
    errors: Type.Integer({
      description: 'In how many decisions a condition of it could not be decided, as far as they were recorded.',
    }),
    use: oneOf(['decided', 'shadowed', 'fired', 'never']),
    samples: Type.Array(
      named(
        'RuleSample',
        Type.Object({
          npcId: Type.String(),
          turnId: Type.Union([Type.String(), Type.Null()]),
          revision: Type.Integer(),
        }),
      ),
      { description: `Up to ${String(COVERAGE_SAMPLES)} decisions in which it matched.` },
    ),
  }),
);

export const CoverageAnswer = named(
  'RuleSetCoverage',
  Type.Object({
    rulesetId: Type.String(),
    version: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Null for a replay with rules of several versions, or with rules that are not registered.',
    }),
    decisions: Type.Integer({
      description: 'How many decisions by this version were counted; with `replayId`, how many the replay made.',
    }),
    rules: Type.Array(RuleCoverage),
    next: Type.Optional(
      Type.String({
        description: 'Send it as `cursor` to continue, and add up the counts.',
      }),
    ),
  }),
);

/** The limits of one read of minds, in rows and in bytes. */
const MIND_PAGE = { limit: 100, bytes: 256 * 1024 };
const CURSOR_CHARS = 1_024;

/** Where counting continues, and for which rules: other ones may be in force in the meantime. */
type CoverageCursor = CoveragePlace & Pick<RulesetUsed, 'version' | 'digest'>;

const cursorText = ({ version, digest = '', from, npcId }: CoverageCursor): string =>
  Buffer.from(`${String(version)}/${digest} ${String(from)} ${npcId}`).toString('base64url');

const readCursor = (text: string): CoverageCursor => {
  const [, version, digest = '', from, npcId] =
    /^(\d{1,15})(?:\/([\w-]{43}))? (\d{1,15}) (.{1,128})$/su.exec(Buffer.from(text, 'base64url').toString('utf8')) ??
    [];
  if (npcId !== undefined)
    return { version: Number(version), from: Number(from), npcId, ...(digest === '' ? {} : { digest }) };
  throw new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ in: 'query', pointer: '/cursor', message: 'is not a cursor of this coverage' }] },
  });
};

/**
 * The minds of a tenant by their ids, from one on, without those that were last written to before a time. The last one of each read is
 * always included, so a caller that counts minds also counts reads. Other work runs between two reads. Propagates errors from the read models.
 */
export async function* mindsFrom(
  readModels: Pick<ReadModels, 'list' | 'get'>,
  tenant: string,
  from: string | undefined,
  sinceMs: number,
): AsyncGenerator<string, void, undefined> {
  if (from !== undefined) yield from;
  for (let beyond = from; ;) {
    const page = { partition: tenant, direction: 'ascending', ...MIND_PAGE } as const;
    const { rows, more } = await readModels.list(npcs, { ...page, ...defined({ beyond }) });
    beyond = rows.at(-1)?.order;
    for (const { row } of rows) {
      const { npcId, updatedAt } = row as unknown as NpcRow;
      if (Date.parse(updatedAt) >= sinceMs || npcId === beyond) yield npcId;
    }
    if (!more || beyond === undefined) return;
    await yieldToEventLoop();
  }
}

/** @throws Rejection REPLAY_NOT_FOUND; RULESET_NOT_FOUND for a set that was not used and is not registered */
const ofReplay = async (
  { repository, rulesets }: Pick<CoverageRouteDeps, 'repository' | 'rulesets'>,
  tenant: string,
  { rulesetId, replayId }: { readonly rulesetId: string; readonly replayId: string },
) => {
  const replay = await findReplay({ repository }, tenant, { replayId });
  const { ruleset, rules } = replay;
  const found = replay.name === 'pending' ? noFindings : replay.found;
  const ofTrial = (ruleset ?? rules)?.rulesetId === rulesetId;
  const registered =
    ruleset !== undefined && ofTrial ? rulesets.version(tenant, ruleset) : rulesets.deciding(tenant, rulesetId);
  const set = (ofTrial ? rules : undefined) ?? (await registered);
  const covered = replayCoverage(found, set ?? { rulesetId, rulesetRules: [] }, ofTrial);
  if (set === null && covered.rules.length === 0) throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId } });
  return { rulesetId, version: ofTrial ? (ruleset?.version ?? null) : null, ...covered };
};

async function* only(npcId: string): AsyncGenerator<string, void, undefined> {
  yield await Promise.resolve(npcId);
}

type CoverageRouteDeps = { readonly ports: Ports; readonly rulesets: Rulesets; readonly repository: ProcessRepository };

/** `GET /rules/{rulesetId}/coverage`. */
export const coverageRoutes = ({ ports, rulesets, repository }: CoverageRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/rules/:rulesetId/coverage', {
    operationId: 'ruleCoverage',
    tag: 'Rules',
    summary: 'Count what each rule of a set did in recorded decisions',
    description:
      'Counts over all NPCs, or over one. One response examines up to 20,000 events and 500 NPCs; add up the counts of the pages.',
    scope: 'audit',
    ext: true,
    params: Type.Object({ rulesetId: pathId('The id of the rule set.', 'tavern') }),
    refuses: ['NPC_NOT_FOUND', 'RULESET_NOT_FOUND', 'REPLAY_NOT_FOUND'],
    query: Type.Object({
      version: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'By default the version in force: the latest, or 0 for the built-in `default`.',
        }),
      ),
      digest: Type.Optional(ContentDigest),
      npcId: Type.Optional(Type.String({ ...ClientId, description: 'Only the decisions of this NPC.' })),
      ...timesQuery,
      replayId: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'Count the decisions of this replay. Send no other parameter with it.',
        }),
      ),
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: CURSOR_CHARS, description: 'The `next` of the previous page.' }),
      ),
    }),
    responses: ok('The counts, or a part of them.', CoverageAnswer, examples.coverage),
    handler: async (call) => {
      const { tenant } = call.principal;
      const { rulesetId } = call.params;
      const { npcId, cursor, replayId } = call.query;
      if (replayId !== undefined) {
        if (Object.keys(call.query).length > 1)
          throw new Rejection('SCHEMA_INVALID', {
            details: {
              issues: [
                {
                  in: 'query',
                  pointer: '/replayId',
                  message: 'cannot be combined with other parameters, because the replay already determines them',
                },
              ],
            },
          });
        return { body: await ofReplay({ repository, rulesets }, tenant, { rulesetId, replayId }) };
      }
      const at = cursor === undefined ? undefined : readCursor(cursor);
      const version = at?.version ?? call.query.version;
      const digest = at?.digest ?? call.query.digest;
      const asked = askedVersion(rulesetId, defined({ version, digest }));
      const set = await (asked === null ? rulesets.deciding(tenant, rulesetId) : rulesets.asked(tenant, asked));
      if (set === null)
        throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId, ...defined({ version, digest }) } });
      if (npcId !== undefined) await requireRevision(ports.events, tenant, npcId);
      else await ports.readModels.reachedPosition(npcs, call.wrote);
      const times = timesOf(call.query);
      const { decisions, rules, next } = await recordedCoverage(ports, {
        ...{ tenant, set, times },
        ...defined({ at }),
        minds: (from) =>
          npcId === undefined ? mindsFrom(ports.readModels, tenant, from, times.sinceMs ?? -Infinity) : only(npcId),
      });
      return {
        body: {
          ...{ rulesetId: set.rulesetId, version: set.version, decisions, rules },
          ...defined({ next: next && cursorText({ ...next, version: set.version, digest: await rulesetDigest(set) }) }),
        },
      };
    },
  }),
];
