import { parseNpcStream } from '../../kernel/base/stream-names.js';

/** A stream in an operator's terms, as a noun phrase. */
export const streamSubject = (stream: string): string => {
  const mind = parseNpcStream(stream);
  return mind === null ? `the stream ${stream}` : `the history of the mind "${mind.npcId}"`;
};
