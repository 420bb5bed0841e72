import { Type } from '@sinclair/typebox';

import type { Json, JsonObject } from '../../kernel/base/json.js';
import { documentedAs, named } from '../../kernel/http/named.js';
import { ClientId, FreeObject, nullable, oneOf } from '../../kernel/http/schemas.js';
import { DECLARED_ACTIONS, targetKinds } from './domain/actions/action-declaration.js';
import {
  ageWords,
  COUNT,
  HEADING_CHARS,
  INSTRUCTION_CHARS,
  INSTRUCTIONS,
  OWN_PROMPT_BYTES,
  type OwnPrompt,
  promptHeadings,
  partNames,
} from './domain/prompt/own-prompt.js';
import { templates } from './domain/ruleset.js';
import { LISTED_VALUES, onBreaks, STATE_RULES, stateTypes } from './domain/state-rules/state-rule.js';

/** A word from a list. Registration checks it itself, because it can say what was probably meant. */
const oneOfTexts = (words: readonly string[], description: string) =>
  documentedAs(Type.Unsafe<string>({ ...oneOf(words), description }), Type.String({ description }));

const Pair = Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
  minItems: 2,
  maxItems: 2,
});
const Rule = named(
  'RegisteredRule',
  Type.Object({
    drRuleId: nullable(Type.String({ description: 'Unique in the set; made from the position by default.' })),
    ruleName: nullable(Type.String({ description: 'What the rule is about, for people.' })),
    ruleCondition: nullable(
      Type.Array(Pair, { maxItems: 64, description: 'Pairs of a key and a value; all of them must match.' }),
    ),
    ruleAction: nullable(
      Type.String({ description: '`REQUIRE`, `ALLOW` or `FORBID` with action types, or a sentence for the prompt.' }),
    ),
    ruleReason: nullable(Type.String({ description: 'Why, for the model and in a refusal.' })),
    ruleTarget: nullable(Type.String({ description: 'The target that the action must have; any by default.' })),
    rulePriority: nullable(Type.Integer({ description: 'The highest matching rule decides.' })),
    ruleObsPattern: nullable(Type.String({ description: 'An RE2 pattern for the observation, case-insensitive.' })),
    rulePromptSuffix: nullable(Type.String({ description: 'Added to the prompt while the rule matches.' })),
    ruleOnBreak: nullable(
      oneOfTexts(
        ['refuse', 'replace'],
        'If an action breaks a rule that requires another one: `refuse` (the default), or `replace` it with the required one.',
      ),
    ),
    ruleRefusal: nullable(
      Type.String({ description: 'What the player hears when the rule refuses or replaces an action.' }),
    ),
  }),
);
/** Who writes a member of the state. */
export const StateRuleSchema = named(
  'StateRule',
  Type.Object({
    path: Type.String({ minLength: 1, description: 'Names separated by dots; `*` is any one name.' }),
    writer: Type.Unsafe<'game' | 'model'>({
      ...oneOf(['game', 'model']),
      description: 'A model changes nothing that the game writes.',
    }),
    type: Type.Optional(oneOf(stateTypes)),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    step: Type.Optional(
      Type.Number({ minimum: 0, description: 'The most by which one verdict may change the number.' }),
    ),
    values: Type.Optional(
      Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
        minItems: 1,
        maxItems: LISTED_VALUES,
        description: 'The only values that it may have.',
      }),
    ),
    optional: Type.Optional(Type.Literal(true, { description: 'A model may remove the member.' })),
    onBreak: Type.Optional(
      Type.Unsafe<(typeof onBreaks)[number]>({
        ...oneOf(onBreaks),
        description: 'What becomes of a change that is not allowed; it is left out by default.',
      }),
    ),
  }),
);

/** What an NPC can do. */
export const ActionDeclarationSchema = named(
  'ActionDeclaration',
  Type.Object({
    type: Type.String({ description: 'An action type, such as `SELL`.' }),
    description: Type.String({ description: 'What the action does. The model reads it.' }),
    target: Type.Optional(oneOf(targetKinds)),
    payload: Type.Optional(
      Type.Unsafe<JsonObject>({ ...FreeObject, description: 'The schema of the payload, in a part of JSON Schema.' }),
    ),
    takes: Type.Optional(
      Type.Literal('item', { description: 'The action gives away or uses up an item, which the NPC must have.' }),
    ),
  }),
);

const lines = (names: readonly string[], description: string) =>
  Type.Optional(
    Type.Object(
      Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String({ maxLength: HEADING_CHARS }))])),
      { description },
    ),
  );
/** How the prompts of a set differ from those of this server. */
export const OwnPromptSchema = named(
  'OwnPrompt',
  Type.Unsafe<OwnPrompt>(
    Type.Object({
      opening: Type.Optional(Type.String({ description: 'The first paragraph.' })),
      headings: lines(promptHeadings, 'The headings of the parts, without a colon.'),
      ages: lines(ageWords, `How long ago the NPC stored a memory; \`${COUNT}\` is the number.`),
      order: Type.Optional(
        Type.Array(oneOf(partNames), {
          maxItems: partNames.length,
          uniqueItems: true,
          description: 'The parts that come first.',
        }),
      ),
      instructions: Type.Optional(
        Type.Array(Type.String({ maxLength: INSTRUCTION_CHARS }), {
          maxItems: INSTRUCTIONS,
          description: 'Lines of their own, before the form of the answer.',
        }),
      ),
      answer: Type.Optional(
        Type.String({ description: 'In place of the form of the answer; it asks for an object with `dialogue`.' }),
      ),
    }),
  ),
);

/** A rule set as it is registered. */
export const RulesBody = named(
  'RegisterRulesRequest',
  Type.Object({
    rulesetId: nullable(ClientId),
    id: nullable(Type.String({ ...ClientId, description: 'The same as `rulesetId`, which wins.' })),
    rulesetRules: nullable(Type.Array(Rule, { maxItems: 1_000 })),
    grammar: nullable(
      Type.Unsafe<1 | 2>({
        type: 'integer',
        enum: [1, 2],
        description: 'How conditions and actions are read; 2 by default.',
      }),
    ),
    ruleState: nullable(
      documentedAs(
        Type.Array(StateRuleSchema, { maxItems: STATE_RULES, description: 'Who writes which members of the state.' }),
        Type.Unsafe<readonly Json[]>({ type: 'array', maxItems: 1_000 }),
      ),
    ),
    actions: nullable(
      documentedAs(
        Type.Array(ActionDeclarationSchema, {
          maxItems: DECLARED_ACTIONS,
          description: 'What an NPC can do; everything without it.',
        }),
        Type.Unsafe<readonly Json[]>({ type: 'array', maxItems: 1_000 }),
      ),
    ),
    prompt: nullable(
      documentedAs(
        Type.Unsafe<OwnPrompt>({
          ...OwnPromptSchema,
          description: `How its prompts differ from those of the server; at most ${OWN_PROMPT_BYTES} bytes of JSON.`,
        }),
        FreeObject,
      ),
    ),
    ruleRefusal: nullable(
      Type.String({ description: 'What the player hears when the rule that refuses has no line of its own.' }),
    ),
    template: nullable(
      oneOfTexts(
        templates,
        'The form of the prompt, by the model: `Raw` (the default), `ChatML`, `Llama3` or `Alpaca`.',
      ),
    ),
    $schema: nullable(Type.String({ description: 'The JSON Schema of this set, for editors. It is not stored.' })),
    ruleName: nullable(Type.String({ description: 'Of a set in the short form, which only describes.' })),
    ruleDescription: nullable(Type.String({ description: 'Of a set in the short form.' })),
    ruleActionTypes: nullable(Type.Array(Type.String(), { maxItems: 64, description: 'Of a set in the short form.' })),
  }),
);

/** A content by its digest: presets have had several under one version. */
export const ContentDigest = Type.String({
  maxLength: 64,
  description:
    'The digest that this version must have, as records name it. It also finds an earlier content of a preset.',
});
