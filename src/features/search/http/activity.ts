import { Type } from '@sinclair/typebox';

import { activity, activityOfMind, activityOfTenant } from '../../../../projections/activity.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { named } from '../../../kernel/http/named.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { NpcParams } from '../../../kernel/http/schemas.js';
import { instantOf } from '../../../kernel/base/timestamp.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import type { Ports } from '../../../ports/ports.js';
import { readMind } from '../../npcs/read-mind.js';
import { countActivity } from '../count-activity.js';
import {
  type ActivitySpan,
  beginOf,
  canBeWritten,
  MOST_BUCKETS,
  spanOf,
  spanWithin,
  stepHours,
  stepText,
} from '../domain/activity-span.js';
import { searchExamples as examples } from './examples.js';

const DEFAULT_STEP = '1h';
/** How many buckets a span has if the request does not say. */
const DEFAULT_STEPS = 24;

const Time = Type.String({ format: 'date-time' });
const Counted = Type.Integer({ minimum: 0 });
const ActivityAnswer = named(
  'Activity',
  Type.Object({
    from: Time,
    to: Time,
    step: Type.String({ description: 'The length of a bucket: whole hours (`6h`) or days (`1d`).' }),
    turns: Counted,
    refusals: Counted,
    buckets: Type.Array(Type.Object({ at: Time, turns: Counted, refusals: Counted })),
    rules: Type.Array(
      Type.Object({
        drRuleId: Type.String(),
        refusals: Counted,
        buckets: Type.Array(Counted, { description: 'Its refusals in each of `buckets`.' }),
      }),
      { description: 'The 20 rules that refused most, in this order.' },
    ),
    otherRefusals: Type.Integer({ description: 'Refusals by other rules, or by none.' }),
  }),
);

const timeQuery = {
  from: Type.Optional(Type.String({ description: 'From this time on (RFC 3339), which is rounded down.' })),
  to: Type.Optional(Type.String({ description: 'Until this time (RFC 3339); now by default.' })),
};

const issue = (pointer: string, message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer, message }] } });

const timeIn = (member: 'from' | 'to', text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const timeMs = instantOf(text);
  if (timeMs === null) throw issue(`/${member}`, 'must be an RFC 3339 timestamp');
  return timeMs;
};

/** @throws Rejection SCHEMA_INVALID for times in the wrong order */
const inOrder = (fromMs: number, toMs: number): void => {
  if (toMs < fromMs) throw issue('/to', 'must not be before from');
};

/** @throws Rejection SCHEMA_INVALID for a bucket that begins or ends in a year that no timestamp has */
const requireWritable = (span: ActivitySpan): void => {
  if (!canBeWritten(span)) throw issue('/to', 'gives buckets that are not all within the years 0 to 9999');
};

const answered = async (ports: Ports, partition: string, span: ActivitySpan) => ({
  from: new Date(span.fromMs).toISOString(),
  to: new Date(span.toMs).toISOString(),
  step: stepText(span.hours),
  ...(await countActivity(ports, partition, span)),
});

const common = { tag: 'Search', scope: 'audit', ext: true } as const;

/** `GET /activity` and `GET /npcs/{npcId}/activity`. */
export const activityRoutes = ({ ports }: { readonly ports: Ports }): readonly RouteDefinition[] => [
  route('GET', '/activity', {
    ...common,
    operationId: 'activity',
    summary: 'Count turns and refusals of all NPCs',
    description: 'By time, and refusals also by rule. Without `from`, the last 24 buckets.',
    query: Type.Object({
      ...timeQuery,
      step: Type.Optional(
        Type.String({ description: 'The length of a bucket: 1h to 23h, or days such as 1d. 1h by default.' }),
      ),
    }),
    responses: ok('The counts.', ActivityAnswer, examples.activity),
    handler: async (call) => {
      const hours = stepHours(call.query.step ?? DEFAULT_STEP);
      if (hours === null) throw issue('/step', 'must be 1h to 23h, or a number of days such as 1d');
      const toMs = timeIn('to', call.query.to) ?? ports.clock.now().getTime();
      const fromMs = timeIn('from', call.query.from) ?? beginOf(toMs, hours, DEFAULT_STEPS);
      inOrder(fromMs, toMs);
      const span = spanOf(fromMs, toMs, hours);
      if (span.buckets > MOST_BUCKETS)
        throw issue(
          '/step',
          `gives ${String(span.buckets)} buckets of at most ${String(MOST_BUCKETS)}; send a longer one`,
        );
      requireWritable(span);
      await ports.readModels.reachedPosition(activity, call.wrote);
      return { body: await answered(ports, activityOfTenant(call.principal.tenant, span.unit), span) };
    },
  }),
  route('GET', '/npcs/:npcId/activity', {
    ...common,
    operationId: 'npcActivity',
    summary: 'Count the turns and refusals of an NPC',
    description: 'By time, and refusals also by rule. Without `from`, since its first event.',
    params: NpcParams,
    query: Type.Object({
      ...timeQuery,
      buckets: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MOST_BUCKETS,
          default: DEFAULT_STEPS,
          description: 'At most this many buckets, of whole hours or days.',
        }),
      ),
    }),
    refuses: ['NPC_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: ok('The counts.', ActivityAnswer, examples.npcActivity),
    handler: async (call) => {
      const { stream, revision } = await readMind(ports.events, call);
      const toMs = timeIn('to', call.query.to) ?? ports.clock.now().getTime();
      const since = timeIn('from', call.query.from);
      const [first] =
        since === undefined ? (await ports.events.read(stream, { direction: 'forwards', limit: 1 })).events : [];
      const fromMs = since ?? Math.min(toMs, Date.parse(first?.meta.at ?? ''));
      inOrder(fromMs, toMs);
      const span = spanWithin(fromMs, toMs, call.query.buckets ?? DEFAULT_STEPS);
      requireWritable(span);
      await waitForStream(ports, activity, stream, minRevision(call));
      return { revision, body: await answered(ports, activityOfMind(stream, span.unit), span) };
    },
  }),
];
