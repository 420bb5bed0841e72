const LINE_END = /\r\n|[\p{Cc}\p{Zl}\p{Zp}]/u;
const QUOTED = /"(?:[^"\\]|\\.)*"/gu;
const JSON_HEAD = /^(Your state|What is around you): \{.*$/;

/**
 * A prompt without what stands in its delimiters: each quoted text becomes `""`, each line of JSON `{}`. Prompts with the same sections, lines and marks
 * have the same skeleton, whatever came from outside.
 */
export const skeletonOf = (prompt: string): readonly string[] =>
  prompt.split(LINE_END).map((line) => line.replace(JSON_HEAD, '$1: {}').replace(QUOTED, '""'));

/** What a model server may read as the edge of a message, wherever in a prompt it stands, and what cannot be seen. */
export const MARKS =
  /<[|｜][^|｜]*[|｜]>|#{3,}|<\/?s>|<<\/?sys>>|<\/?(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>|\[\/?(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]/giu;
export const UNSEEN =
  /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200e\u200f\u061c\u00ad\u2060-\u206f\u202a-\u202e\ufeff\u{e0000}-\u{e0fff}]/u;
