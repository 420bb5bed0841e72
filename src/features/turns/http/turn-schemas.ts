import { type TSchema, Type } from '@sinclair/typebox';

import type { JsonObject } from '../../../kernel/base/json.js';
import { onBreaks } from '../../rules/domain/state-rules/state-rule.js';
import { named } from '../../../kernel/http/named.js';
import { AnyJson, FreeObject, oneOf } from '../../../kernel/http/schemas.js';
import { SpeakerSchema } from '../body-schemas.js';
import {
  BridgeCheckSchema,
  ConstraintsSchema,
  InstructionSchema,
  MemoryDraftSchema,
  RecalledMemorySchema,
  RecordedResultSchema,
  verdictMembers,
  LeftOutSchema,
  PromptPartSchema,
  RulesetRefSchema,
} from '../protocol-schemas.js';

export const turnStates = [
  ...(['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'failed', 'expired'] as const),
] as const;

const time = Type.String({ format: 'date-time' });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const said = {
  observation: Type.String(),
  player: Type.Optional(SpeakerSchema),
  playerContext: Type.Optional(
    Type.Unsafe<JsonObject>({
      ...FreeObject,
      description: 'The context that a player sent with a token. Nothing that decided saw it.',
    }),
  ),
};

const RecallBasis = named(
  'RecallBasis',
  Type.Object(
    {
      embedder: Type.String({ description: 'The embedder that compared meanings, with its version or model.' }),
      pending: Type.Integer({
        minimum: 0,
        description: 'How many memories had no vector yet and were compared by their words.',
      }),
      byWords: Type.Optional(oneOf(['query', 'memories'])),
    },
    { description: 'How the server recalled; absent for the turn of a body.' },
  ),
);

const summary = {
  turnId: Type.String(),
  npcId: Type.String(),
  kind: oneOf(['process', 'directive', 'context', 'verdict']),
  state: oneOf(turnStates),
  openedAt: time,
  deadlineAt: time,
  endedAt: Type.Optional(time),
  resumedFrom: Type.Optional(Type.String({ description: 'The lost turn that this one resumes.' })),
  ruleset: orNull(RulesetRefSchema),
};

export const TurnSummary = named(
  'TurnSummary',
  Type.Object({
    ...summary,
    valid: Type.Optional(Type.Boolean({ description: 'Whether the verdict was valid. Only if there is one.' })),
  }),
);
export const TurnSummaryList = named('TurnSummaryList', Type.Array(TurnSummary));

const Round = named(
  'Round',
  Type.Object({
    round: Type.Integer(),
    revision: Type.Integer(),
    at: time,
    result: orNull(RecordedResultSchema),
    instruction: InstructionSchema,
  }),
);

const ConditionErrorSchema = Type.Optional(Type.String({ description: 'Why the condition cannot be decided.' }));
const RuleTrace = named(
  'RuleTrace',
  Type.Object({
    drRuleId: Type.String(),
    matched: Type.Boolean(),
    conditions: Type.Optional(
      Type.Array(
        Type.Object({
          key: Type.String(),
          expected: Type.String(),
          holds: Type.Boolean(),
          error: ConditionErrorSchema,
        }),
      ),
    ),
    patternHolds: Type.Optional(Type.Boolean()),
  }),
);
const SeenValue = named(
  'SeenValue',
  Type.Object({ key: Type.String(), value: AnyJson, shortened: Type.Optional(Type.Literal(true)) }),
);

/** A verdict with what it was based on. */
/** What only verdicts by rulesets of grammar 2 have. */
const strictGrounds = {
  replacedBy: Type.Optional(Type.String({ description: 'The rule whose action replaced the one of the model.' })),
  stateBreaks: Type.Optional(
    Type.Array(
      named(
        'StateBreak',
        Type.Object({
          path: Type.String(),
          onBreak: oneOf(onBreaks),
          reason: Type.String(),
          instead: Type.Optional(Type.Number({ description: 'What a clamped change became.' })),
        }),
      ),
      { description: 'The changes of the state that the state rules do not allow.' },
    ),
  ),
};
const GroundedVerdict = named(
  'GroundedVerdict',
  Type.Object({
    ...verdictMembers,
    rules: Type.Array(RuleTrace),
    seen: Type.Array(SeenValue, { description: 'The values that the conditions of rules compared.' }),
    seenLeftOut: Type.Optional(Type.Integer()),
    checks: Type.Array(BridgeCheckSchema),
    ...strictGrounds,
    generatedOutput: Type.String({ description: 'The text of the language model.' }),
  }),
);

export const Turn = named(
  'Turn',
  Type.Object({
    ...summary,
    ...said,
    rounds: Type.Array(Round),
    verdict: orNull(GroundedVerdict),
  }),
);

const WhyRule = named(
  'WhyRule',
  Type.Object({
    drRuleId: Type.String(),
    ruleName: Type.String(),
    ruleAction: Type.String(),
    ruleReason: Type.String(),
    rulePriority: Type.Integer(),
    matched: Type.Boolean(),
    conditions: Type.Array(
      named(
        'WhyCondition',
        Type.Object({
          key: Type.String(),
          expected: Type.String(),
          holds: Type.Boolean(),
          error: ConditionErrorSchema,
          saw: Type.Optional(Type.Unsafe({ description: 'The value; absent if the key was missing.' })),
          notRecorded: Type.Optional(
            Type.Literal(true, { description: 'The value was too large to record completely.' }),
          ),
        }),
      ),
    ),
    patternHolds: Type.Optional(Type.Boolean()),
  }),
);
const WhyMemory = named(
  'WhyMemory',
  Type.Intersect([
    RecalledMemorySchema,
    Type.Object({
      cause: Type.Optional(
        Type.Object({ turnId: orNull(Type.String()), eventId: Type.String(), revision: Type.Integer() }),
      ),
    }),
  ]),
);
const WhyPrompt = named(
  'WhyPrompt',
  Type.Object({
    text: Type.String(),
    constraints: ConstraintsSchema,
    digest: Type.String({ description: 'The SHA-256 of the text, base64url.' }),
    madeAgain: Type.Boolean({ description: 'Whether the record produces the same prompt.' }),
    parts: Type.Optional(
      Type.Array(PromptPartSchema, {
        description: 'What the prompt is made of, in its order; absent if the record produces another prompt.',
      }),
    ),
    tokens: Type.Optional(Type.Integer({ description: 'Of these parts, by the counter of this server.' })),
    budget: Type.Optional(
      Type.Integer({ description: 'The most tokens that the prompt could take; absent without a limit.' }),
    ),
    isShortened: Type.Optional(Type.Boolean({ description: 'Whether something was left out because of the budget.' })),
    leftOut: Type.Optional(
      Type.Array(LeftOutSchema, { description: 'What was left out because of the budget; absent if nothing was.' }),
    ),
  }),
);
const WhyModel = named(
  'WhyModel',
  Type.Object({
    text: Type.String(),
    cortexId: Type.Optional(Type.String({ description: 'The engine of this server that wrote the text.' })),
    reasoning: Type.Optional(
      Type.String({ description: 'What the model thought before it answered; nothing of it was said or done.' }),
    ),
    read: named(
      'ModelOutput',
      Type.Object({
        dialogue: Type.String(),
        action: Type.Optional(AnyJson),
        excess: orNull(Type.String()),
        stateChange: Type.Optional(AnyJson),
        memories: Type.Array(MemoryDraftSchema),
        structured: Type.Boolean({ description: 'Whether the text contained a JSON object.' }),
      }),
    ),
  }),
);
const WhyMismatch = named(
  'WhyMismatch',
  Type.Object({
    revision: Type.Integer(),
    round: Type.Integer(),
    members: Type.Array(Type.Object({ member: Type.String(), recorded: AnyJson, received: AnyJson })),
  }),
);

export const WhySchema = named(
  'Why',
  Type.Object({
    ...summary,
    ...said,
    broken: Type.Optional(
      Type.Literal(true, {
        description: 'A stored event of the turn is not what was recorded, so the verdict is not signed.',
      }),
    ),
    mind: named(
      'WhyMind',
      Type.Object(
        { revision: Type.Integer(), persona: orNull(Type.String()), data: orNull(FreeObject) },
        { description: 'The mind as the last decision saw it.' },
      ),
    ),
    rulesetMissing: Type.Optional(
      Type.String({ description: 'The ruleset that the turn or the binding named but that is not registered.' }),
    ),
    rules: Type.Array(WhyRule),
    decidedBy: Type.Optional(
      Type.String({ description: 'The rule that the action or the refusal came from; absent if none decided.' }),
    ),
    memories: Type.Array(WhyMemory),
    recall: Type.Optional(RecallBasis),
    prompt: orNull(WhyPrompt),
    model: orNull(WhyModel),
    checks: Type.Array(BridgeCheckSchema),
    ...strictGrounds,
    verdict: orNull(named('Verdict', Type.Object(verdictMembers))),
    mismatches: Type.Array(WhyMismatch, { description: 'Where a tape contradicted the record.' }),
    missingAnswers: Type.Optional(
      Type.Array(
        named(
          'WhyMissingAnswer',
          Type.Object({ attempt: Type.Integer(), cortexId: Type.String(), reason: Type.String() }),
        ),
        { description: 'The attempts in which the engine gave no text; absent if each gave one.' },
      ),
    ),
    failure: Type.Optional(
      named(
        'WhyFailure',
        Type.Object(
          { code: Type.String(), reason: Type.String() },
          { description: 'Why the turn failed; absent if it did not.' },
        ),
      ),
    ),
    stateChange: orNull(Type.Unsafe<JsonObject>({ ...FreeObject, description: 'A merge patch (RFC 7396).' })),
    memoriesStored: Type.Array(
      Type.Object({
        memoryId: Type.String(),
        text: Type.String(),
        type: Type.String(),
        importance: Type.Number(),
      }),
    ),
    events: Type.Array(
      Type.Object({
        revision: Type.Integer(),
        id: Type.String(),
        type: Type.String(),
        at: time,
        hash: Type.String(),
      }),
    ),
  }),
);
