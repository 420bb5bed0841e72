import { logEvents } from '../features/proofs/domain/events.js';
import { npcEvents } from '../features/npcs/domain/events.js';
import { defined } from '../kernel/base/defined.js';
import { isNpcStream, parseLogStream } from '../kernel/base/stream-names.js';
import type { EventStore, EventToAppend } from '../ports/event-store.js';
import type { Metrics } from '../ports/metrics.js';

const isByRule = (code: string | null | undefined): boolean => code === 'RULE_REFUSED';

const countOfMind = (metrics: Pick<Metrics, 'count'>, recorded: EventToAppend): void => {
  const event = npcEvents.decode(recorded);
  switch (event.type) {
    case 'VerdictReached':
      metrics.count('verdicts', 'valid');
      break;
    case 'VerdictRefused':
      metrics.count('verdicts', 'refused');
      if (isByRule(event.data.verdict.code)) metrics.count('ruleRefusals');
      break;
    case 'BridgeChecked':
      if (isByRule(event.data.code)) metrics.count('ruleRefusals');
      break;
    case 'TurnFailed':
      metrics.count('verdicts', 'failed');
      break;
    case 'TurnExpired':
      metrics.count('verdicts', 'expired');
      break;
    default:
  }
};

const countOfLog = (metrics: Pick<Metrics, 'count'>, recorded: EventToAppend): void => {
  const event = logEvents.decode(recorded);
  if (event.type === 'CheckpointsHandedOn' && event.data.failed !== null) metrics.count('handOnFailures');
};

/** An event store that counts what this process records in it. */
export const countedStore = (events: EventStore, metrics: Pick<Metrics, 'count'>): EventStore => ({
  ...defined({ soleWriter: events.soleWriter }),
  append: async (stream, expected, appended) => {
    const outcome = await events.append(stream, expected, appended);
    if (!outcome.ok || outcome.repeated) return outcome;
    if (isNpcStream(stream)) for (const event of appended) countOfMind(metrics, event);
    else if (parseLogStream(stream) !== null) for (const event of appended) countOfLog(metrics, event);
    return outcome;
  },
  read: (...range) => events.read(...range),
  readAll: (...range) => events.readAll(...range),
  lastPosition: () => events.lastPosition(),
  subscribe: (options) => events.subscribe(options),
  openProcesses: () => events.openProcesses(),
  [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
});
