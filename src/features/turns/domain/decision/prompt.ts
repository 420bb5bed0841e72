import { type Declarations, declarationsOf } from '../../../rules/domain/actions/action-declaration.js';
import type { Match, Matched } from '../../../rules/domain/matched.js';
import { permitsType } from '../../../rules/domain/bridge/refusal.js';
import { matchRules } from '../../../rules/domain/match.js';
import { firstFitting, isObject, type Json, jsonBytes, type JsonObject } from '../../../../kernel/base/json.js';
import { cutJsonText, cutText } from '../../../../kernel/base/text.js';
import type { RulesTrace } from '../../../rules/domain/rules-trace.js';
import { CONVERSATION_BYTES, HEARD_BYTES } from '../conversation.js';
import { actionLines } from './action-lines.js';
import type { DecisionInput } from './input.js';
import { observationLine } from './observation-line.js';
import type { ChatMessage } from '../../../../ports/messages-of.js';
import { formats } from './templates.js';
import type { TextRules } from './text-rules.js';

export type BuiltPrompt = {
  readonly prompt: string;
  readonly constraints: JsonObject;
  /** The messages that the prompt was formatted from; null for `Raw`. */
  readonly ctxMessages: readonly ChatMessage[] | null;
  /** The same as messages, whatever the template, with the conversation as messages of its own. */
  readonly chat: readonly ChatMessage[];
  readonly trace: RulesTrace;
};

/** Sampling settings, named as model servers name them. */
const MAX_TOKENS = 512;
const TEMPERATURE = 0.7;

/**
 * How much of each part goes into a prompt, in bytes of the JSON that records it. A model reads a few pages, and records have a limit
 * (src/features/npcs/domain/recorded-bytes.ts). As many memories and rules are included as fit.
 */
const PART_BYTES = 10_000;
/** How often a value is shortened because guarding has added spaces; one that is full of marks may then be cut anywhere. */
const GUARD_TRIES = 4;
const MEMORIES_BYTES = 24_000;
const RULES_BYTES = 14_000;
const ACTIONS_BYTES = 10_000;
/** What one memory always has room for, and the limit of one text of a rule, in UTF-16 units. */
const MEMORY_CHARS = 1_000;
const RULE_CHARS = 500;
/** What the lines of a conversation have around their texts, in bytes: at most 64 exchanges, with 40 bytes each. */
const EXCHANGE_MARKS = 2_560;
const MEMORIES = 20;
const RULES = 50;
/** The limit of the complete prompt without its conversation: its parts and separators. @internal A test adds it up. */
export const PROMPT_BYTES = 98_304;

const answerForm = (action: string): string =>
  `Answer with one JSON object: {"dialogue": what you say, "action": {${action}}, "stateDelta": what changes in your state, or {}}.`;
const ANY_ACTION = '"type": an upper-case word such as SPEAK, MOVE, INTERACT, ATTACK or IDLE, "target": whom or what';
const DECLARED_ACTION =
  '"type": one of your actions, "target": whom or what, if the action has a target, "payload": what the action lists, or {}';

type Guard = TextRules['guard'];

/** External text in quotes: one line, truncated to a limit, with nothing in it that ends a message. */
const quoted = (text: string, bytes: number, guard: Guard): string =>
  JSON.stringify(cutJsonText(guard(cutText(text, bytes)), bytes, 4));
/** External JSON, which has its own quotes. If guarding makes it too long, it is shortened again, unless it can only be cut. */
const quotedJson = (value: Json, { guard, members }: TextRules): string => {
  let text = '';
  let shown: Json | undefined;
  for (let room = PART_BYTES, tries = 0; tries < GUARD_TRIES; tries += 1) {
    const before = shown;
    shown = members(value, room);
    if (shown !== before) text = guard(cutText(JSON.stringify(shown), PART_BYTES));
    const over = jsonBytes(text) - 2 - PART_BYTES;
    if (over <= 0) break;
    room -= over;
  }
  return cutJsonText(text, PART_BYTES);
};

const ruleText = (text: string, guard: Guard): string => quoted(cutText(text, RULE_CHARS), RULES_BYTES, guard);

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];

type Typed = { readonly types: readonly string[] };
const typesIn = ({ types }: Typed, between: string): string => cutText(types.join(between), RULE_CHARS);
const areOrIs = ({ types }: Typed): string => (types.length === 1 ? 'is' : 'are');
const aimedAt = (target: string | null | undefined, guard: Guard): string =>
  (target ?? null) === null ? '' : ` at ${ruleText(target ?? '', guard)}`;

/** What rules above a rule that forbids leave of it, before the action is known. */
type Lifted = {
  /** Whether an action is certainly not forbidden by it, or may turn out not to be. */
  readonly isLifted: (type: string) => boolean;
  readonly mayBeLifted: (type: string) => boolean;
  readonly any: boolean;
};

const liftedFrom = (forbidding: Match, { matches, pending = [] }: Matched): Lifted => {
  const above = (some: readonly Match[]): readonly Match[] =>
    some.slice(0, RULES).filter(({ rank }) => rank < forbidding.rank);
  const certain = above(matches);
  const possible = [...certain, ...above(pending)];
  const isAimed = ({ effect }: Match): boolean => 'target' in effect && (effect.target ?? null) !== null;
  return {
    isLifted: (type) => certain.some((match) => permitsType(match, type) && !isAimed(match)),
    mayBeLifted: (type) => possible.some((match) => permitsType(match, type)),
    any: possible.some(({ effect }) => effect.kind === 'allow' || effect.kind === 'require'),
  };
};

/** What a rule that forbids says to the model. */
const prohibitions = (match: Match, because: string, lifted: Lifted, guard: Guard): readonly string[] => {
  const { effect } = match;
  if (effect.kind !== 'forbid') return [];
  const at = aimedAt(effect.target, guard);
  if (effect.types.includes('*') && lifted.isLifted('*')) return [];
  if (effect.types.includes('*'))
    return [lifted.any ? `No other action is allowed${at}${because}.` : `You must not act at all${at}${because}.`];
  const limited = { types: effect.types.filter((type) => !lifted.isLifted(type) && lifted.mayBeLifted(type)) };
  const forbidden = { types: effect.types.filter((type) => !lifted.mayBeLifted(type)) };
  return [
    ...(forbidden.types.length === 0
      ? []
      : [`${typesIn(forbidden, ', ')}${at} ${areOrIs(forbidden)} forbidden${because}.`]),
    ...(limited.types.length === 0
      ? []
      : [`${typesIn(limited, ', ')}${at} ${areOrIs(limited)} allowed only within limits${because}.`]),
  ];
};

/** The demands of the matching rules on the model, highest priority first. */
const demands = (matched: Matched, guard: Guard): readonly string[] =>
  matched.matches.slice(0, RULES).flatMap((match) => {
    const { rule, effect } = match;
    const because = rule.ruleReason === '' ? '' : ` (${ruleText(rule.ruleReason, guard)})`;
    const suffix = rule.rulePromptSuffix ?? '';
    const said = suffix === '' ? [] : [ruleText(suffix, guard)];
    switch (effect.kind) {
      case 'direct':
        return [`Your action must be ${effect.type}${aimedAt(effect.target, guard)}${because}.`, ...said];
      case 'require':
        return [`Your action must be ${typesIn(effect, ' or ')}${aimedAt(effect.target, guard)}${because}.`, ...said];
      case 'allow':
        return [
          `${effect.types.includes('*') ? 'Every action' : typesIn(effect, ', ')}${aimedAt(effect.target, guard)} ${areOrIs(effect)} allowed${because}.`,
          ...said,
        ];
      case 'forbid':
        return [...prohibitions(match, because, liftedFrom(match, matched), guard), ...said];
      case 'say':
        return [`${ruleText(effect.sentence, guard)}${because}`, ...said];
      case 'none':
        return said;
    }
  });

/** What the model may answer with. */
const answerSections = (declarations: Declarations | null, guard: Guard): readonly string[] =>
  declarations === null
    ? [answerForm(ANY_ACTION)]
    : [...section('Your actions', actionLines(declarations, ACTIONS_BYTES, guard)), answerForm(DECLARED_ACTION)];

const hasMembers = (value: Json): boolean => value !== null && (!isObject(value) || Object.keys(value).length > 0);

/** What was said before, oldest first: the texts of the player quoted, those of the NPC as one line of JSON. The newest have priority. */
const exchangesIn = ({ conversation, texts }: DecisionInput): readonly (readonly [string, string])[] => {
  const newestFirst = conversation
    .map(({ heard, answered }) => [quoted(heard, HEARD_BYTES, texts.guard), quotedJson(answered, texts)] as const)
    .reverse();
  return [...firstFitting(newestFirst, CONVERSATION_BYTES - EXCHANGE_MARKS)].reverse();
};

const memoriesIn = ({ memories, observation, texts }: DecisionInput): readonly string[] => {
  const shown = memories.slice(0, MEMORIES);
  const room = Math.floor(MEMORIES_BYTES / shown.length);
  const sized = shown.map(({ text }) => ({ text, chars: Math.max(MEMORY_CHARS, texts.memoryRoom(text, room)) }));
  return texts.excerpts(sized, observation).map((text) => quoted(text, MEMORIES_BYTES, texts.guard));
};

/** The system text, with what was said before or without it: its other parts are written once. */
const systemTexts = (input: DecisionInput, matched: Matched): ((said: readonly string[]) => string) => {
  const { guard } = input.texts;
  const before = [
    input.persona === null || input.persona === ''
      ? 'You are a character in a game.'
      : `Who you are: ${quoted(input.persona, PART_BYTES, guard)}`,
    ...(hasMembers(input.npcState) ? [`Your state: ${quotedJson(input.npcState, input.texts)}`] : []),
    ...(hasMembers(input.context) ? [`What is around you: ${quotedJson(input.context, input.texts)}`] : []),
    ...section('What you remember', firstFitting(memoriesIn(input), MEMORIES_BYTES)),
  ];
  const after = [
    ...section('Rules', firstFitting(demands(matched, guard), RULES_BYTES)),
    ...answerSections(declarationsOf(input.ruleset), guard),
  ];
  return (said) => [...before, ...section('What was said before', said), ...after].join('\n\n');
};

/**
 * Builds a turn's prompt in the ruleset's template: persona, state, context, memories, the conversation, the demands of the matching rules
 * and the declared actions. No external text can end
 * the message that contains it.
 */
export const buildPrompt = (input: DecisionInput): BuiltPrompt => {
  const observation = observationLine(input.ruleset, input.observation, input.texts);
  const matched = matchRules(input.ruleset, { ...input, observation });
  const template = input.ruleset?.template ?? 'Raw';
  const { format } = formats[template];
  const stop = input.texts.stops[template];
  const exchanges = exchangesIn(input);
  const lines = exchanges.flatMap(([heard, answered]) => [`You heard: ${heard}`, `You answered: ${answered}`]);
  const systemWith = systemTexts(input, matched);
  const system = systemWith(lines);
  const user = JSON.stringify(observation);
  return {
    prompt: format(system, user),
    constraints: { maxTokens: MAX_TOKENS, temperature: TEMPERATURE, ...(stop.length === 0 ? {} : { stop }) },
    ctxMessages:
      template === 'Raw'
        ? null
        : [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
    chat: [
      { role: 'system', content: lines.length === 0 ? system : systemWith([]) },
      ...exchanges.flatMap(([heard, answered]): readonly ChatMessage[] => [
        { role: 'user', content: heard },
        { role: 'assistant', content: answered },
      ]),
      { role: 'user', content: user },
    ],
    trace: matched.trace,
  };
};
