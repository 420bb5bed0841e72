import { messagesOf } from '../../../ports/messages-of.js';
import { isObject, type JsonObject } from '../../../kernel/base/json.js';
import type { Before, Demand, PromptContent } from './situation.js';

/** How much is examined, in UTF-16 units: of the last utterance, and of the persona. Those of this server are hardly longer. */
const SAID_CHARS = 2_000;
const PERSONA_CHARS = 2_000;
/** How many memories and rules are examined; prompts of this server hold no more. */
const MEMORIES = 20;
const DEMANDS = 60;
/** How many of the last exchanges are examined. */
const EXCHANGES = 4;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** A quoted line's text; null if it is not quoted. */
const unquoted = (text: string): string | null => {
  const value = text.startsWith('"') ? parse(text) : undefined;
  return typeof value === 'string' ? value : null;
};

const objectOf = (text: string | undefined): JsonObject => {
  const value = text === undefined ? undefined : parse(text);
  return isObject(value) ? value : {};
};

/** A JSON string, and the reason that may follow it. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const BECAUSE = `(?: \\((?<because>${QUOTED})\\))?`;
const mustAct = new RegExp(`^Your action must be (?<type>\\S+)(?: at (?<target>${QUOTED}))?${BECAUSE}\\.$`);
const mustNotAct = new RegExp(`^You must not act at all${BECAUSE}\\.$`);
const forbidden = new RegExp(`^(?<types>[^"]+?) (?:is|are) forbidden${BECAUSE}\\.$`);
const tone = new RegExp(`^(?<text>${QUOTED})${BECAUSE}$`);

const part = (found: RegExpExecArray, name: string): string | null => {
  const text = found.groups?.[name];
  return text === undefined ? null : unquoted(text);
};

/** One line below "Rules:", as src/features/turns/domain/decision/prompt.ts writes it. */
const demandOf = (line: string): Demand | null => {
  const act = mustAct.exec(line);
  if (act !== null) {
    const type = act.groups?.['type'] ?? '';
    return { kind: 'act', type, target: part(act, 'target'), because: part(act, 'because') };
  }
  const still = mustNotAct.exec(line);
  if (still !== null) return { kind: 'forbid', types: ['*'], because: part(still, 'because') };
  const no = forbidden.exec(line);
  if (no !== null) {
    return { kind: 'forbid', types: (no.groups?.['types'] ?? '').split(', '), because: part(no, 'because') };
  }
  const said = tone.exec(line);
  return said === null ? null : { kind: 'tone', text: part(said, 'text') ?? '', because: part(said, 'because') };
};

const HEADS = {
  persona: 'Who you are: ',
  state: 'Your state: ',
  around: 'What is around you: ',
  memories: 'What you remember:',
  before: 'What was said before:',
  rules: 'Rules:',
} as const;
const ANSWER_FORM = 'Answer with one JSON object:';

/** The lines of a list below its heading; the reader drops any that is not quoted but should be. */
const itemsBelow = (section: string | undefined): readonly string[] =>
  (section ?? '')
    .split('\n')
    .slice(1)
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2));

const HEARD = 'You heard: ';
const ANSWERED = 'You answered: ';

/** Each exchange is two lines. */
const exchangesIn = (lines: readonly string[]): readonly Before[] =>
  lines.slice(-2 * EXCHANGES).flatMap((line, at, all) => {
    const answered = all[at + 1] ?? '';
    const heard = line.startsWith(HEARD) ? unquoted(line.slice(HEARD.length)) : null;
    if (heard === null || !answered.startsWith(ANSWERED)) return [];
    const { dialogue } = objectOf(answered.slice(ANSWERED.length));
    return [{ heard, said: typeof dialogue === 'string' ? dialogue : '' }];
  });

/** Sections are separated by empty lines, which no quoted text holds, so that quoted text can never begin one. */
const readSystem = (system: string) => {
  const sections = system.split('\n\n');
  const section = (head: string): string | undefined => sections.find((one) => one.startsWith(head));
  const rest = (head: string): string | undefined => section(head)?.slice(head.length);
  return {
    persona: unquoted(rest(HEADS.persona) ?? '')?.slice(0, PERSONA_CHARS) ?? null,
    state: objectOf(rest(HEADS.state)),
    around: objectOf(rest(HEADS.around)),
    memories: itemsBelow(section(HEADS.memories))
      .slice(0, MEMORIES)
      .flatMap((line) => unquoted(line) ?? []),
    before: exchangesIn(itemsBelow(section(HEADS.before))),
    demands: itemsBelow(section(HEADS.rules))
      .slice(0, DEMANDS)
      .flatMap((line) => demandOf(line) ?? []),
    wantsJson: section(ANSWER_FORM) !== undefined,
  };
};

const raw = /^(?<system>[^]*)\n\nObservation: (?<user>"(?:[^"\\\n]|\\.)*")\n\nAnswer:$/;

/**
 * Reads any prompt: one of this server (src/features/turns/domain/decision/prompt.ts) in any of its templates, or whatever else a client sends.
 * @param similarities how well each of its memories matches, in their order, if known
 */
export const readPrompt = (prompt: string, similarities: readonly number[] | null = null): PromptContent => {
  const situation = situationOf(prompt);
  return { ...situation, similarities, observation: situation.observation.slice(0, SAID_CHARS) };
};

const situationOf = (prompt: string): Omit<PromptContent, 'similarities'> => {
  const messages = messagesOf(prompt);
  const system = messages.find(({ role }) => role === 'system')?.content;
  const user = messages.find(({ role }) => role === 'user')?.content ?? '';
  if (system !== undefined) return { ...readSystem(system), observation: unquoted(user) ?? user };
  const found = raw.exec(prompt)?.groups;
  if (found !== undefined) {
    return { ...readSystem(found['system'] ?? ''), observation: unquoted(found['user'] ?? '') ?? '' };
  }
  const persona = /^You are [^\n]{1,500}/.exec(prompt)?.[0] ?? null;
  return { ...readSystem(''), persona, observation: lastSaid(prompt) };
};

/**
 * The last utterance in a prompt that is not from this server: its last paragraph, without the speaker and without the line where the answer begins.
 */
const lastSaid = (prompt: string): string => {
  const lines = prompt
    .slice(-SAID_CHARS)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[\w ]{1,24}:$/.test(line));
  return (lines.at(-1) ?? '').replace(/^(?:user|player|human|input|observation|question|q)\s*:\s*/i, '');
};
