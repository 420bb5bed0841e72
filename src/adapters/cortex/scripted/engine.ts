import type { Completion, CortexEngine } from '../../../ports/cortex.js';
import { untilStop } from '../until-stop.js';
import { readPrompt } from './read-prompt.js';
import { scriptedReply } from './reply.js';

/** Texts in words, which serve as tokens in this engine. */
const wordsIn = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? [];

const textFor = ({ prompt, jsonSchema, similarities }: Completion): string => {
  const situation = readPrompt(prompt, similarities);
  const reply = scriptedReply(situation, prompt);
  if (situation.wantsJson || jsonSchema !== undefined) return JSON.stringify(reply);
  return reply.dialogue === '' ? '…' : reply.dialogue;
};

/**
 * The engine without a model: it reads the prompt that src/features/turns/domain/decision/prompt.ts writes, and answers in English with written
 * phrases. Deterministic: the same prompt and similarities get the same text. A quoted text is never treated as an instruction.
 */
export const createScriptedEngine = (): CortexEngine => ({
  id: 'scripted',
  name: 'Scripted',
  runtime: 'builtin',
  parameters: 0,
  state: () => 'ready',
  down: () => null,
  complete: async (asked, signal) => {
    signal.throwIfAborted();
    const words = wordsIn(untilStop(textFor(asked), asked.stop));
    const kept = words.slice(0, asked.maxTokens ?? words.length);
    return {
      text: kept.join('').trimEnd(),
      stats: { promptTokens: wordsIn(asked.prompt).length, completionTokens: kept.length },
    };
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
