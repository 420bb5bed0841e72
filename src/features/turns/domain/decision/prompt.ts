import { type Declarations, declarationsOf } from '../../../rules/domain/actions/action-declaration.js';
import type { Matched } from '../../../rules/domain/matched.js';
import type { PartName } from '../../../rules/domain/prompt/own-prompt.js';
import { gameTimeIn } from '../../../npcs/domain/game-time.js';
import { matchRules } from '../../../rules/domain/match.js';
import { defined } from '../../../../kernel/base/defined.js';
import { isObject, type Json, jsonBytes, type JsonObject } from '../../../../kernel/base/json.js';
import type { RulesTrace } from '../../../rules/domain/rules-trace.js';
import { CONVERSATION_BYTES, HEARD_BYTES } from '../conversation.js';
import { actionLines } from './action-lines.js';
import type { DecisionInput } from './input.js';
import type { LeftOutPart } from './left-out.js';
import { observationLine } from './observation-line.js';
import type { ChatMessage } from '../../../../ports/messages-of.js';
import { fittingParts, type Paragraph, type PromptPart, section, promptText } from './prompt-parts.js';
import { ageOf, newestLast } from './memory-times.js';
import { PART_BYTES, quotedText, quotedJson } from './quoted.js';
import { ruleLines } from './rule-lines.js';
import { formats } from './templates.js';
import { withinBudget } from './within-budget.js';
import { type Wording, wordingOf } from './wording.js';

export type BuiltPrompt = {
  readonly prompt: string;
  readonly constraints: JsonObject;
  /** The messages that the prompt was formatted from; null for `Raw`. */
  readonly ctxMessages: readonly ChatMessage[] | null;
  /** The same as messages, whatever the template, with the conversation as messages of its own. */
  readonly chat: readonly ChatMessage[];
  /** What the prompt is made of, in its order. */
  readonly parts: readonly PromptPart[];
  /** Whether it leaves something out because of its budget. */
  readonly isShortened: boolean;
  /** What it leaves out, if it is shortened. */
  readonly leftOut: readonly LeftOutPart[];
  readonly trace: RulesTrace;
};

/** How many tokens an answer has, unless the engine has another number. */
export const ANSWER_TOKENS = 512;
const TEMPERATURE = 0.7;

/** How much of the memories and the declared actions goes into a prompt, in bytes of the JSON that records it. */
const MEMORIES_BYTES = 24_000;
const ACTIONS_BYTES = 10_000;
/** What one memory always has room for, in UTF-16 units. */
const MEMORY_CHARS = 1_000;
/** What the lines of a conversation have around their texts, in bytes: at most 64 exchanges, with 40 bytes each. */
const EXCHANGE_MARKS = 2_560;
/** What of it are the headings of this server, which a ruleset may replace with longer ones. */
const HEADING_BYTES = 28;
const MEMORIES = 20;
/** The limit of the complete prompt without its conversation: its parts and separators. @internal A test adds it up. */
export const PROMPT_BYTES = 98_304;

const ANY_ACTION = '"type": an upper-case word such as SPEAK, MOVE, INTERACT, ATTACK or IDLE, "target": whom or what';
const DECLARED_ACTION =
  '"type": one of your actions, "target": whom or what, if the action has a target, "payload": what the action lists, or {}';
const MEMORIES_TO_STORE = ', "memoryStore": a list of sentences to remember in place of the observation, or []';

/** How the model answers. Only agents are told how to store memories: the prompts of bodies stay as they were. */
const answerForm = (declarations: Declarations | null, { promptAt }: DecisionInput): string => {
  const action = declarations === null ? ANY_ACTION : DECLARED_ACTION;
  const toStore = promptAt === undefined ? '' : MEMORIES_TO_STORE;
  return `Answer with one JSON object: {"dialogue": what you say, "action": {${action}}, "stateDelta": what changes in your state, or {}${toStore}}.`;
};

const said = (text: string | undefined): readonly Paragraph[] =>
  text === undefined || text === '' ? [] : [[{ text, from: 'instruction' }]];

const hasMembers = (value: Json): boolean => value !== null && (!isObject(value) || Object.keys(value).length > 0);

/** An exchange as the prompt shows it: the text of the player quoted, that of the NPC as one line of JSON. */
type Shown = { readonly turnId: string; readonly heard: string; readonly answered: string };

/** What was said before, oldest first. The newest have priority. */
const exchangesIn = ({ conversation, texts }: DecisionInput, { headings }: Wording): readonly Shown[] => {
  const newestFirst = conversation
    .map(({ turnId, heard, answered }) => ({
      turnId,
      heard: quotedText(heard, HEARD_BYTES, texts.guard),
      answered: quotedJson(answered, texts),
    }))
    .reverse();
  const marks = Math.max(0, jsonBytes([headings.heard, headings.answered]) - HEADING_BYTES);
  let left = CONVERSATION_BYTES - EXCHANGE_MARKS;
  const over = newestFirst.findIndex(({ heard, answered }) => (left -= jsonBytes([heard, answered]) + marks) < 0);
  return (over === -1 ? newestFirst : newestFirst.slice(0, over)).reverse();
};

const exchangeLines = ({ turnId, heard, answered }: Shown, { headings }: Wording): readonly PromptPart[] => [
  { text: `${headings.heard}: ${heard}`, from: 'conversation', ref: turnId },
  { text: `${headings.answered}: ${answered}`, from: 'conversation', ref: turnId },
];

/** The best memories that fit. Agents see when they were stored, newest last. */
const memoriesIn = (input: DecisionInput, { ages }: Wording): readonly PromptPart[] => {
  const { memories, observation, texts, promptAt, facts } = input;
  const shown = memories.slice(0, MEMORIES);
  const room = Math.floor(MEMORIES_BYTES / shown.length);
  const sized = shown.map(({ text }) => ({ text, chars: Math.max(MEMORY_CHARS, texts.memoryRoom(text, room)) }));
  const cut = texts.excerpts(sized, observation);
  const times = { promptAt, gameTime: gameTimeIn(facts) };
  const lines = shown.map((memory, at): PromptPart => {
    const age = promptAt === undefined ? null : ageOf(memory, times, ages);
    const before = age === null ? '' : `${age}: `;
    const text = before + quotedText(cut[at] ?? '', MEMORIES_BYTES - jsonBytes(before), texts.guard);
    return { text, from: 'memory', ...defined({ ref: memory.memoryId }) };
  });
  const fitting = fittingParts(lines, MEMORIES_BYTES);
  if (promptAt === undefined) return fitting;
  const withTimes = shown.flatMap((memory, at) => {
    const part = fitting[at];
    return part === undefined ? [] : [{ ...memory, part }];
  });
  return newestLast(withTimes).map(({ part }) => part);
};

/** The paragraphs of the system text, by their parts. */
const partsOf = (
  input: DecisionInput,
  { matched, exchanges, wording }: { matched: Matched; exchanges: readonly Shown[]; wording: Wording },
): Readonly<Record<PartName, readonly Paragraph[]>> => {
  const { persona, npcState, context, texts, ruleset } = input;
  const { headings, instructions, answer } = wording;
  const declarations = declarationsOf(ruleset);
  const shown = (title: string, value: Json, from: 'state' | 'context'): readonly Paragraph[] =>
    hasMembers(value) ? [[{ text: `${title}: ${quotedJson(value, texts)}`, from }]] : [];
  return {
    persona: isNobody(persona)
      ? []
      : [[{ text: `${headings.persona}: ${quotedText(persona, PART_BYTES, texts.guard)}`, from: 'persona' }]],
    state: shown(headings.state, npcState, 'state'),
    context: shown(headings.context, context, 'context'),
    memories: section(headings.memories, memoriesIn(input, wording)),
    conversation: section(
      headings.conversation,
      exchanges.flatMap((exchange) => exchangeLines(exchange, wording)),
    ),
    rules: section(headings.rules, ruleLines(matched, texts.guard)),
    actions:
      declarations === null ? [] : section(headings.actions, actionLines(declarations, ACTIONS_BYTES, texts.guard)),
    instructions: said(instructions),
    answer: said(answer ?? answerForm(declarations, input)),
  };
};

const isNobody = (persona: string | null): persona is null | '' => persona === null || persona === '';

/**
 * Builds a turn's prompt in the ruleset's template, within its budget: persona, state, context, memories, the conversation, the demands of the
 * matching rules and the declared actions. No external text can end the message that contains it.
 */
export const buildPrompt = (input: DecisionInput): BuiltPrompt => {
  const observation = observationLine(input.ruleset, input.observation, input.texts);
  const matched = matchRules(input.ruleset, { ...input, observation });
  return withinBudget(input, (shown) => drawPrompt(shown, observation, matched));
};

/** The prompt that shows an input, whole. The rules match what the turn knows, even if the prompt shows less of it. */
const drawPrompt = (
  input: DecisionInput,
  observation: string,
  matched: Matched,
): Omit<BuiltPrompt, 'isShortened' | 'leftOut'> => {
  const template = input.ruleset?.template ?? 'Raw';
  const { format } = formats[template];
  const stop = input.texts.stops[template];
  const wording = wordingOf(input);
  const exchanges = exchangesIn(input, wording);
  const byPart = partsOf(input, { matched, exchanges, wording });
  const opening = said(wording.opening ?? (isNobody(input.persona) ? 'You are a character in a game.' : undefined));
  const withParts = (names: readonly PartName[]): readonly Paragraph[] => [
    ...opening,
    ...names.flatMap((name) => byPart[name]),
  ];
  const paragraphs = withParts(wording.order);
  const system = promptText(paragraphs);
  const user = JSON.stringify(observation);
  return {
    prompt: format(system, user),
    constraints: { maxTokens: ANSWER_TOKENS, temperature: TEMPERATURE, ...(stop.length === 0 ? {} : { stop }) },
    ctxMessages:
      template === 'Raw'
        ? null
        : [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
    chat: [
      {
        role: 'system',
        content:
          exchanges.length === 0
            ? system
            : promptText(withParts(wording.order.filter((name) => name !== 'conversation'))),
      },
      ...exchanges.flatMap(({ heard, answered }): readonly ChatMessage[] => [
        { role: 'user', content: heard },
        { role: 'assistant', content: answered },
      ]),
      { role: 'user', content: user },
    ],
    parts: [...paragraphs.flat(), { text: user, from: 'observation' }],
    trace: matched.trace,
  };
};
