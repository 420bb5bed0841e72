import type { Completion, CortexEngine } from '../../../ports/cortex.js';
import { untilStop } from '../until-stop.js';
import { readParts } from './read-parts.js';
import { readUtterance } from './read-utterance.js';
import { scriptedReply } from './reply.js';

/** Texts in words, which serve as tokens in this engine. */
const wordsIn = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? [];

/** The parts of a prompt are those of a turn, which is answered with an object. */
const textFor = ({ prompt, parts, jsonSchema }: Completion): string => {
  const reply = scriptedReply(parts === undefined ? readUtterance(prompt) : readParts(parts), prompt);
  if (parts !== undefined || jsonSchema !== undefined) return JSON.stringify(reply);
  return reply.dialogue === '' ? '…' : reply.dialogue;
};

/**
 * The engine without a model: it reads the parts of a turn's prompt, and answers with written phrases. Of any other prompt it reads the last
 * utterance. Deterministic: the same prompt and parts get the same text. A quoted text is never treated as an instruction.
 */
export const createScriptedEngine = (): CortexEngine => ({
  id: 'scripted',
  name: 'Scripted',
  runtime: 'builtin',
  parameters: 0,
  takesParts: true,
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
