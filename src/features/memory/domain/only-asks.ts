/** One sentence that ends in a question mark, followed only by closing marks, with no other sentence before it. A line break also ends a sentence. */
const ONE_QUESTION = /^([^.!?。！？؟…।۔\r\n\u2028\u2029]*)[?？؟]+[\s"'”’»)\]）]*$/u;

const OPENS = /^[\s"'“‘«([（¿]+/u;

/**
 * The marks that may separate a statement from a question within one sentence: "My name is Anna, can you help me?" These are all marks except those
 * that occur in words and around them: an apostrophe, a quotation mark, a hyphen between letters or digits.
 */
const PARTS = /[^\p{L}\p{M}\p{N}\p{Cf}\s"'“”‘’«»‐‑-]|(?<![\p{L}\p{M}\p{N}])[‐‑-]|[‐‑-](?![\p{L}\p{M}\p{N}])/u;
const BEGINS_AS_QUESTION =
  /^(?:(?:and|but|so|well|then|now|please|hey|excuse me|sir|madam|tell me)[,!]? )*(?:who|whose|whom|what|when|where|why|how|which|is|are|am|was|were|do|does|did|can|could|will|would|may|might|shall|should|have|has|had)\b/i;

/** "Tell me about the bridge." is a question without its mark. */
const ONE_REQUEST = /^((?:please,? |now,? )*(?:tell|remind) me (?!that\b)[^.!?。！？؟…।۔\r\n\u2028\u2029]*)[.!]?$/iu;

/**
 * Whether a memory is only a question. A question is most similar to its own repeats: asked often enough, they would crowd out the memory that
 * answers it.
 */
export const onlyAsks = ({ type, text }: { readonly type: string; readonly text: string }): boolean => {
  if (type !== 'observation') return false;
  const request = ONE_REQUEST.exec(text.trim())?.[1];
  if (request !== undefined) return !PARTS.test(request.replace(/^please, /i, ''));
  const sentence = ONE_QUESTION.exec(text.trim())?.[1]?.replace(OPENS, '');
  return sentence !== undefined && (BEGINS_AS_QUESTION.test(sentence) || !PARTS.test(sentence));
};
