import type { JsonObject } from '../../src/kernel/base/json.js';
import { derivedUuid } from '../../src/kernel/crypto/uuid.js';
import type { EventMeta, EventToAppend, ProcessMark, RecordedEvent } from '../../src/ports/event-store.js';

/** 2026-01-01T00:00:00.000Z, the time at which built events begin. */
const START_MS = 1_767_225_600_000;

export type EventOptions = {
  readonly type?: string;
  readonly data?: JsonObject;
  readonly process?: ProcessMark;
  readonly meta?: Partial<EventMeta>;
};

/**
 * A complete event to append. Its id is derived from `name`: the same name makes the same id. The hashes do not form a chain:
 * a store keeps them and does not compute them.
 */
export const event = (name: string, options: EventOptions = {}): EventToAppend => ({
  id: derivedUuid(START_MS, name),
  type: options.type ?? 'Happened',
  data: options.data ?? { name },
  meta: {
    tenant: 'local',
    actor: 'key-1',
    correlationId: `correlation-${name}`,
    causationId: null,
    commandId: `command-${name}`,
    schemaVersion: 1,
    at: new Date(START_MS).toISOString(),
    prevHash: '0'.repeat(64),
    hash: 'a'.repeat(64),
    ...(options.process === undefined ? {} : { process: options.process }),
    ...options.meta,
  },
});

/** `count` events named `<prefix>-0`, `<prefix>-1` and so on. */
export const events = (prefix: string, count: number): readonly EventToAppend[] =>
  Array.from({ length: count }, (_, index) => event(`${prefix}-${index}`));

/** An event of a process that is open or at its end. */
export const processEvent = (name: string, process: ProcessMark): EventToAppend => event(name, { process });

/** The names of events built here, in order. */
export const namesOf = (recorded: readonly RecordedEvent[]): readonly unknown[] =>
  recorded.map(({ data }) => data['name']);
