import { defined } from '../../../kernel/base/defined.js';
import { isObject, type JsonObject } from '../../../kernel/base/json.js';
import type { CompletionPart } from '../../../ports/cortex.js';
import type { Before, Demand, PromptContent } from './situation.js';

/** How much is examined, in UTF-16 units: of the last utterance, and of the persona. Those of this server are hardly longer. */
export const SAID_CHARS = 2_000;
const PERSONA_CHARS = 2_000;
/** How many memories and rules are examined; prompts of this server hold no more. */
const MEMORIES = 20;
const DEMANDS = 60;
/** How many of the last exchanges are examined. */
const EXCHANGES = 4;
/** At how many places of a part its JSON may begin: the words before it may hold such a mark. */
const TRIES = 8;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** The text or the object at the end of a part, whatever words precede it; undefined without one. */
const valueIn = ({ text }: CompletionPart): unknown => {
  let tries = 0;
  for (const { index } of text.matchAll(/["{]/g)) {
    const value = parse(text.slice(index));
    tries += 1;
    if (value !== undefined || tries === TRIES) return value;
  }
  return undefined;
};

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** A JSON string, and the reason that may follow it. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const BECAUSE = `(?: \\((?<because>${QUOTED})\\))?`;
const mustAct = new RegExp(`^Your action must be (?<type>\\S+)(?: at (?<target>${QUOTED}))?${BECAUSE}\\.$`);
const mustNotAct = new RegExp(`^You must not act at all${BECAUSE}\\.$`);
const forbidden = new RegExp(`^(?<types>[^"]+?) (?:is|are) forbidden${BECAUSE}\\.$`);
const tone = new RegExp(`^(?<text>${QUOTED})${BECAUSE}$`);

/** A line of the rules, as src/features/turns/domain/decision/rule-lines.ts writes it. */
const demandOf = ({ text: line }: CompletionPart): Demand | null => {
  for (const form of [mustAct, mustNotAct, forbidden, tone]) {
    const groups = form.exec(line)?.groups;
    if (groups === undefined) continue;
    const said = (name: string): string | null => {
      const text = parse(groups[name] ?? '');
      return typeof text === 'string' ? text : null;
    };
    const because = said('because');
    if (form === mustAct) return { kind: 'act', type: groups['type'] ?? '', target: said('target'), because };
    if (form === tone) return { kind: 'tone', text: said('text') ?? '', because };
    return { kind: 'forbid', types: form === forbidden ? (groups['types'] ?? '').split(', ') : ['*'], because };
  }
  return null;
};

/** Each exchange is two parts: what was heard as a text, and what was answered as an object. */
const exchangesIn = (values: readonly unknown[]): readonly Before[] =>
  values
    .flatMap((heard, at) => {
      const { dialogue } = objectOf(values[at + 1]);
      return typeof heard === 'string' ? [{ heard, said: typeof dialogue === 'string' ? dialogue : '' }] : [];
    })
    .slice(-EXCHANGES);

/** Reads the parts of a turn's prompt by their origin; no heading and no text from outside can pass for a part. */
export const readParts = (parts: readonly CompletionPart[]): PromptContent => {
  const from = (origin: string) => parts.filter((part) => part.from === origin);
  const valuesOf = (origin: string) => from(origin).map(valueIn);
  const textOf = (origin: string, chars: number): string | null => {
    const [text] = valuesOf(origin);
    return typeof text === 'string' ? text.slice(0, chars) : null;
  };
  return {
    persona: textOf('persona', PERSONA_CHARS),
    state: objectOf(valuesOf('state')[0]),
    around: objectOf(valuesOf('context')[0]),
    memories: from('memory')
      .slice(0, MEMORIES)
      .flatMap((part) => {
        const text = valueIn(part);
        return typeof text === 'string' ? [{ text, ...defined({ similarity: part.similarity }) }] : [];
      })
      .toSorted((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0)),
    before: exchangesIn(valuesOf('conversation')),
    demands: from('rule')
      .slice(0, DEMANDS)
      .flatMap((part) => demandOf(part) ?? []),
    observation: textOf('observation', SAID_CHARS) ?? '',
  };
};
