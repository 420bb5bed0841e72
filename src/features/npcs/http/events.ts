import { Type } from '@sinclair/typebox';

import { abortWith } from '../../../kernel/concurrency/abort-with.js';
import { toHistoryEvent } from '../../../kernel/streams/history.js';
import { requireRevision } from '../find-mind.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { EVENT_STREAM, eventStream } from '../../../kernel/http/event-stream.js';
import { type Call, type RouteDefinition, route } from '../../../kernel/http/route.js';
import { NpcParams } from '../../../kernel/http/schemas.js';

/** The number of streams that one key may hold. */
export const STREAMS_PER_KEY = 16;

type EventRouteDeps = {
  readonly ports: Pick<Ports, 'events'>;
  /** Calls back when the key is revoked; returns how to stop listening. */
  readonly onRevoked: (keyId: string, listener: () => void) => () => void;
};

/** Where the stream begins: after the last event that the client has, at `from`, or at the first event. */
const startOf = (call: Call<unknown, { from?: number }>): number => {
  const last = call.header('last-event-id');
  if (last === undefined || last === '') return call.query.from ?? 0;
  if (!/^\d{1,15}$/.test(last)) throw new Rejection('HEADER_INVALID', { details: { header: 'Last-Event-ID' } });
  return Number(last) + 1;
};

/** `GET /npcs/{npcId}/events`: a mind's stored events, then its live ones. */
export const eventRoutes = ({ ports, onRevoked }: EventRouteDeps): readonly RouteDefinition[] => {
  const open = new Map<string, number>();

  /** @throws Rejection TOO_MANY_STREAMS, before the first chunk */
  const takePlace = (keyId: string): (() => void) => {
    const mine = open.get(keyId) ?? 0;
    if (mine >= STREAMS_PER_KEY)
      throw new Rejection('TOO_MANY_STREAMS', { retryAfter: 1, details: { limit: STREAMS_PER_KEY } });
    open.set(keyId, mine + 1);
    return () => {
      const left = (open.get(keyId) ?? 1) - 1;
      if (left > 0) open.set(keyId, left);
      else open.delete(keyId);
    };
  };

  const follow = async function* (keyId: string, stream: string, from: number, left: AbortSignal) {
    const givePlaceBack = takePlace(keyId);
    const ends = new AbortController();
    const letGo = abortWith(ends, left);
    const unlisten = onRevoked(keyId, () => ends.abort());
    try {
      // The headers go out though nothing may have happened yet.
      yield '';
      const { signal } = ends;
      for await (const batch of ports.events.subscribe({ stream: { name: stream, from }, signal })) {
        for (const event of batch) {
          if (signal.aborted) return;
          yield `id: ${String(event.revision)}\ndata: ${JSON.stringify(toHistoryEvent(event))}\n\n`;
        }
      }
    } finally {
      unlisten();
      letGo();
      givePlaceBack();
    }
  };

  return [
    route('GET', '/npcs/:npcId/events', {
      operationId: 'events',
      tag: 'Histories',
      summary: "Follow an NPC's events (Server-Sent Events)",
      description:
        'Starts after `Last-Event-ID` if the header is sent, else at `from`, else at the first event. In a browser use `fetch`, because `EventSource` cannot send a key.',
      scope: 'audit',
      ext: true,
      params: NpcParams,
      query: Type.Object({
        from: Type.Optional(Type.Integer({ minimum: 0, description: 'The first revision, inclusive.' })),
      }),
      refuses: ['NPC_NOT_FOUND', 'TOO_MANY_STREAMS'],
      reads: ['Last-Event-ID'],
      responses: {
        200: {
          description: 'The events. `id` is the revision and `data` the event as the history shows it.',
          contentType: EVENT_STREAM,
          stream: 'endless',
        },
      },
      handler: async (call) => {
        const { tenant, keyId } = call.principal;
        const { npcId } = call.params;
        const from = startOf(call);
        await requireRevision(ports.events, tenant, npcId);
        return eventStream((signal) => follow(keyId, npcStream(tenant, npcId), from, signal));
      },
    }),
  ];
};
