import type { JsonObject } from './json.js';
import { Rejection } from './rejection.js';

/** Converts the data of an event to the next version of its type; pure. */
export type Upcaster = (data: JsonObject) => JsonObject;

/** Every type of a kind of stream, with the upcasters of its older versions, version 1 first: a type without upcasters is at version 1. */
export type Upcasters<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: readonly Upcaster[];
};

/** The part of a recorded event that decoding reads. */
export type EventToDecode = {
  readonly type: string;
  readonly data: JsonObject;
  readonly meta: { readonly schemaVersion: number };
};

/** Represents an event of an unknown type, written by a newer program. Folds ignore it. */
export type UnknownEvent = { readonly type: 'Unknown'; readonly data: Record<string, never> };
const unknownEvent: UnknownEvent = { type: 'Unknown', data: {} };

/** The boundary between the stored events of a kind of stream and the types of the program (docs/adr/0004). */
export type Decoder<Event> = {
  readonly types: readonly string[];
  /** The current version of an event type; null for a type of another kind of stream. */
  readonly versionOf: (type: string) => number | null;
  /**
   * A stored event, lifted to the newest version of its type.
   * @throws Rejection EVENT_VERSION_UNKNOWN if it was written in a later version: folding it as something else would fail unnoticed
   */
  readonly decode: (stored: EventToDecode) => Event | UnknownEvent;
};

/** Creates the decoder of a kind of stream. */
export const decoderOf = <Event extends { readonly type: string }>(upcasters: Upcasters<Event>): Decoder<Event> => {
  const known = new Map(Object.entries<readonly Upcaster[]>(upcasters));
  return {
    types: [...known.keys()],
    versionOf: (type) => {
      const lifts = known.get(type);
      return lifts === undefined ? null : lifts.length + 1;
    },
    decode: (stored) => {
      const { type, data, meta } = stored;
      const lifts = known.get(type);
      if (lifts === undefined) return unknownEvent;
      const newest = lifts.length + 1;
      if (meta.schemaVersion > newest) throw tooNew(type, meta.schemaVersion);
      // The only code where stored JSON becomes an event: its type was checked when it was created.
      if (meta.schemaVersion === newest) return stored as unknown as Event;
      const lifted = lifts.slice(meta.schemaVersion - 1).reduce((before, lift) => lift(before), data);
      return { type, data: lifted } as unknown as Event;
    },
  };
};

/** The current version of an event type. @throws Error for a type of another kind of stream, which is a programming error */
export const currentVersion = ({ versionOf }: Pick<Decoder<unknown>, 'versionOf'>, type: string): number => {
  const version = versionOf(type);
  if (version === null) throw new Error(`no event of this kind of stream is of type ${type}`);
  return version;
};

const tooNew = (type: string, version: number): Rejection =>
  new Rejection('EVENT_VERSION_UNKNOWN', { details: { type, version }, retryAfter: 1 });
