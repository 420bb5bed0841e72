/** One sentence that ends in a question mark, whatever closes it: no other sentence stands before it. */
const ONE_QUESTION = /^[^.!?。！？؟]*[?？؟]+[\s"'”’»)\]]*$/u;

/** What may stand between a statement and a question within one sentence: "My name is Anna, can you help me?" */
const IN_PARTS = /[,;:–—،؛，、；：]/u;
const BEGINS_AS_QUESTION =
  /^[\s"'“‘«(]*(?:(?:and|but|so|well|then|now|please|hey|excuse me|sir|madam|tell me)[,!]? )*(?:who|whose|whom|what|when|where|why|how|which|is|are|am|was|were|do|does|did|can|could|will|would|may|might|shall|should|have|has|had)\b/i;

/**
 * Whether a memory is a question that somebody asked, and tells nothing. A question is nearest to its own repeats: once asked often enough, they would
 * leave no place for what answers it (contract 7.1).
 */
export const onlyAsks = ({ type, text }: { readonly type: string; readonly text: string }): boolean =>
  type === 'observation' && ONE_QUESTION.test(text) && (!IN_PARTS.test(text) || BEGINS_AS_QUESTION.test(text));
