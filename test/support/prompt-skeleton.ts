const LINE_END = /\r\n|[\p{Cc}\p{Zl}\p{Zp}]/u;
const QUOTED = /"(?:[^"\\]|\\.)*"/gu;
const JSON_HEAD = /^(Your state|What is around you): \{.*$/;

/**
 * A prompt without the contents of its delimiters: each quoted text becomes `""`, each line of JSON `{}`. Prompts with the same sections, lines and marks
 * have the same skeleton, whatever the external texts are.
 */
export const skeletonOf = (prompt: string): readonly string[] =>
  prompt.split(LINE_END).map((line) => line.replace(JSON_HEAD, '$1: {}').replace(QUOTED, '""'));

/** Anything in a prompt that a model server may read as the edge of a message, and invisible characters. */
export const MARKS =
  /<[|｜][^|｜]*[|｜]>|#{3,}|<\/?s>|<<\/?sys>>|<\/?(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>|\[\/?(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]/giu;
export const UNSEEN =
  /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200e\u200f\u061c\u00ad\u2060-\u206f\u202a-\u202e\ufeff\u{e0000}-\u{e0fff}]/u;
