import type streams from '@eventstore/db-client/generated/streams_pb.js';

import { BadRequest } from './errors.js';
import type { Header } from './log.js';

/** How many events of the log are scanned before a checkpoint may be sent, unless the client sets another number. */
const SEARCH_WINDOW = 32;

export type Filter = {
  readonly matches: (event: Header) => boolean;
  /** Events scanned per page of history. */
  readonly window: number;
  /** Events scanned from one checkpoint to the next. */
  readonly checkpointEvery: number;
};

const expressionOf = (text: string): RegExp => {
  const insensitive = text.startsWith('(?i)');
  try {
    return insensitive ? new RegExp(text.slice('(?i)'.length), 'i') : new RegExp(text);
  } catch (error) {
    throw new BadRequest(`This is no regular expression: ${text}`, { cause: error });
  }
};

/**
 * A filter on stream names or event types. A regular expression wins over prefixes; without either nothing matches.
 * @throws BadRequest for an invalid regular expression.
 */
export const filterOf = (options: streams.ReadReq.Options.FilterOptions): Filter => {
  const byStream = options.hasStreamIdentifier();
  const expression = byStream ? options.getStreamIdentifier() : options.getEventType();
  const regex = expression?.getRegex() ?? '';
  const prefixes = expression?.getPrefixList() ?? [];
  const pattern = regex === '' ? undefined : expressionOf(regex);
  const window = options.hasMax() ? options.getMax() : SEARCH_WINDOW;
  return {
    matches: (event) => {
      const text = byStream ? event.stream : event.type;
      return pattern?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix));
    },
    window,
    checkpointEvery: window * options.getCheckpointintervalmultiplier(),
  };
};
