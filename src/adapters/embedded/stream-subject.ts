import { parseNpcStream } from '../../kernel/base/stream-names.js';

/** A stream as an operator knows it, as a noun phrase. */
export const streamSubject = (stream: string): string => {
  const mind = parseNpcStream(stream);
  return mind === null ? `the stream ${stream}` : `the history of the mind "${mind.npcId}"`;
};
