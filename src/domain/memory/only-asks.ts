/** One sentence that ends in a question mark, whatever closes it: no other sentence stands before it. */
const ONE_QUESTION = /^[^.!?。！？؟]*[?？؟]+[\s"'”’»)\]]*$/u;

/**
 * Whether a memory is a question that somebody asked, and tells nothing. A question is nearest to its own repeats: once asked often enough, they would
 * leave no place for what answers it (contract 7.1).
 */
export const onlyAsks = ({ type, text }: { readonly type: string; readonly text: string }): boolean =>
  type === 'observation' && ONE_QUESTION.test(text);
