import type { Json } from '../../../kernel/base/json.js';

/**
 * The limits of events, in bytes of JSON. An event holds at most 900,000 bytes and an append 1,048,000, metadata included. INPUT_BYTES
 * (input-bytes.ts) limits the input of a request, and each part that the mind adds has its own limit, so every accepted act fits:
 *
 * | event or append                | input   | added                                                                  | at most |
 * | ------------------------------ | ------- | ---------------------------------------------------------------------- | ------- |
 * | opening, result, with a prompt | 524,288 | prompt 98,304, conversation 2 x 24,000, held 26,624                    | 706,000 |
 * | opening, result, with a query  | 524,288 | query 49,152, conversation 24,000, held 26,624                         | 632,000 |
 * | memories of an agent           | 262,144 | prompt and messages 244,608                                            | 515,000 |
 * | `DirectiveGiven`               | 524,288 | query 49,152, held 26,624, traces 131,072                              | 740,000 |
 * | `ContextBuilt`                 | 524,288 | prompt twice 196,608, held 26,624, traces 131,072                      | 890,000 |
 * | verdict                        | 524,288 | words 32,768, action 32,768, change 16,384, memories 49,152, held 26,624, traces 131,072, state rules 20,480 | 845,000 |
 * | verdict with change, memories  | 524,288 | as above, change and memories twice                                    | 911,000 |
 * | resumed turn with its verdict  | 524,288 | as above, prompt 98,304                                                | 1,008,000 |
 *
 * Only the prompt of a turn that begins here shows a conversation; other prompts have at most 98,304 bytes.
 *
 * Each has 8,192 bytes left for ids, names and numbers. The metadata of a turn's 20 events takes at most 20,000 bytes.
 */

/** The limit of an NPC's dialogue; a longer one counts as none. */
export const DIALOGUE_BYTES = 32_768;
/** The limit of an action with its payload. */
export const ACTION_BYTES = 32_768;
/** The limit of all memories of one verdict together. */
export const MEMORY_STORE_BYTES = 49_152;
/** The limit of what is recorded of a model's reasoning. Only turns of agents have one, whose input is far below INPUT_BYTES. */
export const REASONING_BYTES = 16_384;
/** The limit of the details of a refusal. */
export const DETAILS_BYTES = 16_384;
/**
 * The limit of the names of the rules whose patterns matched: all names of a ruleset (RULESET_BOUNDS) with their separators.
 * @internal A test adds it up.
 */
export const HELD_BYTES = 26_624;
/** The limit of what a verdict records of state rules that its change broke. */
export const STATE_BREAKS_BYTES = 20_480;
/** The limit of a query for memories, in bytes of UTF-8; each byte may become six in JSON. */
export const QUERY_BYTES = 8_192;
/** The limit of the text of a memory, in bytes of UTF-8. */
export const MEMORY_BYTES = 8_192;
/** The limit of the metadata of a memory, as JSON and as JSON in compatibility form. Older events may hold more. */
export const METADATA_BYTES = 16_384;

/**
 * Whether metadata is within METADATA_BYTES. The search for players' names reads it in compatibility form (NFKC, Unicode Standard Annex 15), in which
 * one character may become eighteen.
 */
export const fitsMetadata = (metadata: Json): boolean => {
  const text = JSON.stringify(metadata);
  return Buffer.byteLength(text) <= METADATA_BYTES && Buffer.byteLength(text.normalize('NFKC')) <= METADATA_BYTES;
};
