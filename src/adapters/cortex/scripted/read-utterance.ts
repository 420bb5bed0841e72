import { messagesOf } from '../../../ports/messages-of.js';
import { SAID_CHARS } from './read-parts.js';
import type { PromptContent } from './situation.js';

/** The text of a quoted line; any other line as it is. */
const unquoted = (line: string): string => {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'string' ? value : line;
  } catch {
    return line;
  }
};

/** The last utterance of a prompt: its last line, without the speaker and without the line where the answer begins. */
const lastSaid = (prompt: string): string => {
  const lines = prompt
    .slice(-SAID_CHARS)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[\w ]{1,24}:$/.test(line));
  return unquoted((lines.at(-1) ?? '').replace(/^(?:user|player|human|input|observation|question|q)\s*:\s*/i, ''));
};

/** Reads a prompt that came without its parts: who speaks, if it begins with "You are", and what was said last. */
export const readUtterance = (prompt: string): PromptContent => ({
  persona: /^You are [^\n]{1,500}/.exec(prompt)?.[0] ?? null,
  ...{ state: {}, around: {}, memories: [], before: [], demands: [] },
  observation: lastSaid(messagesOf(prompt).findLast(({ role }) => role === 'user')?.content ?? ''),
});
