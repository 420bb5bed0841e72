import { type TSchema, Type } from '@sinclair/typebox';

import { REPRO_FORMAT, SCRIPT_TEXTS } from '../reproduce.js';
import { findingKinds } from '../domain/finding-kinds.js';
import type { ProtocolProbe } from '../domain/policy.js';
import type { Json } from '../../../kernel/base/json.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject, nullable, oneOf } from '../../../kernel/http/schemas.js';
import { ActionSchema } from '../../turns/protocol-schemas.js';
import { LevelShown, NamedGoal, ShownStatus } from './shown-results.js';

/** The longest text of a script, in characters: a turn accepts no more. */
const TEXT_CHARS = 524_288;

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const Finding = named(
  'Finding',
  Type.Object({
    n: Type.Integer({ description: 'The number of the finding in its session.' }),
    kind: oneOf(findingKinds),
    subject: Type.String({ description: 'What it is about: a goal, an item, a rule or an action with its code.' }),
    detail: Type.String(),
    fromStep: Type.Integer(),
    toStep: Type.Integer(),
    count: Type.Integer({ description: 'How often it was seen.' }),
    events: Type.Array(Type.Integer(), { description: 'The revisions of the steps that showed it first.' }),
  }),
);

const GhostTest = named(
  'GhostTest',
  Type.Object({
    testName: Type.String(),
    testPassed: Type.Boolean(),
    testError: orNull(Type.String()),
    testSkipped: Type.Optional(Type.Literal(true)),
    testDuration: Type.Number({ description: 'In milliseconds.' }),
    testScreenshot: orNull(Type.String({ description: 'The URL of the picture of the session.' })),
  }),
);

/** What the world made of an action. */
const Outcome = named(
  'Outcome',
  Type.Unsafe({
    type: 'object',
    required: ['ok'],
    properties: { ok: { type: 'boolean' }, code: { type: 'string' }, reason: { type: 'string' } },
    additionalProperties: true,
    description: 'Whether the world allowed the action; if not, the code and the reason.',
  }),
);
const PlayedTurn = named(
  'PlayedTurn',
  Type.Object({
    npcId: Type.String(),
    events: Type.Array(Type.Object({ type: Type.String(), version: Type.Integer(), data: FreeObject })),
  }),
);
const probes = ['repeat_step', 'stale_step', 'contradicting_tape'];
const Probe = Type.Unsafe<ProtocolProbe>({ type: 'string', enum: probes });

const GhostStep = named(
  'GhostStep',
  Type.Object({
    step: Type.Integer(),
    turns: Type.Array(PlayedTurn),
    action: orNull(ActionSchema),
    outcome: orNull(Outcome),
    probe: Type.Optional(Probe),
    error: Type.Optional(Type.String({ description: 'What the probe found wrong.' })),
    told: Type.Optional(
      named(
        'WorldReport',
        Type.Object(
          {
            position: Type.Optional(Type.Object({ x: Type.Integer(), y: Type.Integer() })),
            outcome: Type.Optional(Outcome),
            reached: Type.Optional(Type.Array(Type.String())),
            done: Type.Optional(Type.Literal(true)),
          },
          { description: 'What your game reported. Only with the driver `remote`.' },
        ),
      ),
    ),
    ms: Type.Optional(Type.Number({ description: 'How long this server worked on it, in milliseconds.' })),
    revision: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
  }),
);
export const GhostSteps = named(
  'GhostSteps',
  Type.Object({
    sessionId: Type.String(),
    next: Type.Optional(Type.Integer({ description: 'The step to continue from; absent at the end.' })),
    steps: Type.Array(GhostStep),
  }),
);

const reproduction = {
  format: Type.Literal(REPRO_FORMAT),
  finding: named(
    'ReproducedFinding',
    Type.Object({ kind: Type.String(), subject: Type.String(), detail: Type.Optional(Type.String()) }),
  ),
  level: LevelShown,
  seed: Type.Integer(),
  engine: Type.Optional(
    Type.Boolean({
      description: 'Whether an engine wrote the texts. An engine is given more information than a policy.',
    }),
  ),
  script: Type.Array(
    named('ScriptedText', Type.Object({ text: Type.String({ maxLength: TEXT_CHARS }), probe: Type.Optional(Probe) })),
    { maxItems: SCRIPT_TEXTS, description: 'What the ghost says, one text for each step.' },
  ),
};

export const GhostReproduction = named(
  'GhostReproduction',
  Type.Object({
    ...reproduction,
    sessionId: Type.String(),
    map: orNull(Type.Unsafe<Json>({ ...FreeObject, description: 'The Tiled map; null if this server has the level.' })),
    goal: NamedGoal,
    steps: Type.Integer(),
    minimal: Type.Boolean({ description: 'Whether no shorter script is possible.' }),
  }),
);
export const ReplayGhostRequest = named(
  'ReplayGhostRequest',
  Type.Object({ ...reproduction, goal: Type.Optional(NamedGoal), map: nullable(FreeObject) }),
);
export const ReplayedGhost = named(
  'ReplayedGhost',
  Type.Object({
    reproduced: Type.Boolean(),
    findings: Type.Array(Finding),
    steps: Type.Integer(),
  }),
);

const Metric = Type.Array(Type.Unsafe<string | number>({ type: ['string', 'number'] }));
/** Figures by name. */
const Metrics = Type.Array(Metric, { description: 'Each entry has a name and its metrics.' });

export const GhostComparison = named(
  'GhostComparison',
  Type.Object({
    sessionId: Type.String(),
    otherId: Type.String(),
    comparable: Type.Boolean({ description: 'Whether both sessions had the same goal, driver and level.' }),
    added: Type.Array(Finding),
    gone: Type.Array(Finding),
    kept: Type.Array(Finding),
    metrics: Metrics,
  }),
);

/** The results of a session. */
export const Results = named(
  'GhostResults',
  Type.Object({
    resultsSessionId: Type.String(),
    resultsTotalTests: Type.Integer(),
    resultsPassed: Type.Integer(),
    resultsFailed: Type.Integer(),
    resultsSkipped: Type.Integer(),
    resultsDuration: Type.Number({ description: 'Milliseconds.' }),
    resultsTests: Type.Array(GhostTest),
    resultsCoverage: Type.Number({ description: 'From 0 to 1.' }),
    resultsMetrics: Metrics,
    resultsFindings: Type.Array(Finding),
    resultsGoal: Type.String(),
    resultsLevel: LevelShown,
    resultsSeed: Type.Integer(),
    resultsEngine: Type.String(),
    resultsTimedOut: Type.Boolean(),
    resultsStatus: ShownStatus,
    resultsErrors: Type.Array(Type.String()),
    resultsPartial: Type.Optional(Type.Literal(true, { description: 'The session is not over.' })),
  }),
);
