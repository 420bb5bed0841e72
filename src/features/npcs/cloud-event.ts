import { type CloudEvent, withoutData } from '../../ports/event-publisher.js';
import { isObject } from '../../kernel/base/json.js';
import { parseNpcStream } from '../../kernel/base/stream-names.js';
import { npcEvents } from './domain/events.js';
import type { EventToDecode } from '../../kernel/base/decoder.js';

/** The published part of a recorded event. The actor and the request id are left out: they are not for other programs. */
type EventToPublish = EventToDecode & {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly meta: { readonly at: string; readonly hash: string; readonly prevHash: string };
};

/** The name of the schema of an event's data; the published schema files use it as their `$id`. */
export const eventSchemaId = (type: string, version: number): string => `urn:anima:event:${type}:${String(version)}`;

/** Whether this version of the server knows the shape of the event's data. */
const isKnown = ({ type, data, meta }: EventToPublish): boolean =>
  isObject(data) && meta.schemaVersion <= (npcEvents.versionOf(type) ?? 0);

/**
 * A recorded event in its published form; null for events of other streams.
 * @param source the installation, as a URI reference
 */
export const toCloudEvent = (recorded: EventToPublish, source: string): CloudEvent | null => {
  const mind = parseNpcStream(recorded.stream);
  if (mind === null) return null;
  const { id, type, revision, data, meta } = recorded;
  const event: CloudEvent = {
    specversion: '1.0',
    id,
    source,
    type: `anima.npc.${type}`,
    subject: mind.npcId,
    time: meta.at,
    dataschema: eventSchemaId(type, meta.schemaVersion),
    tenant: mind.tenant,
    npcid: mind.npcId,
    revision,
    hash: meta.hash,
    prevhash: meta.prevHash,
    datacontenttype: 'application/json',
    data,
  };
  return isKnown(recorded) ? event : withoutData(event, 'unknown-type');
};
