import type { ServerWritableStream } from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

import { BadRequest } from './errors.js';
import type { LoggedEvent } from './log.js';

/** A read or a subscription: one request, many responses. */
export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

export const MAX_INT64 = 2n ** 63n - 1n;
/** Also -1 as an unsigned number: "none" for revisions, "the end" for positions. */
export const MAX_UINT64 = 2n ** 64n - 1n;
const NIL = '0'.repeat(32);
/** `created` counts steps of 100 ns. */
const TICKS_PER_MILLISECOND = 10_000n;

/** @throws BadRequest without a name. */
export const streamName = (identifier: shared.StreamIdentifier | undefined): string => {
  const name = Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
  if (name === '') throw new BadRequest('A stream name must not be empty.');
  return name;
};

/**
 * The id of an event in lower case with dashes. Braces, upper case and missing dashes are accepted.
 * @throws BadRequest for anything that is not an id, and for the nil id.
 */
export const idOf = (uuid: shared.UUID | undefined): string => {
  const hex = (uuid?.getString() ?? '')
    .toLowerCase()
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(hex) || hex === NIL) throw new BadRequest('An event needs an id.');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** An event as reads and subscriptions send it. */
export const eventMessage = (event: LoggedEvent): streams.ReadResp => {
  const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(event.stream, 'utf8'));
  const position = String(event.position);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(identifier)
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', event.json ? 'application/json' : 'application/octet-stream')
    .set('created', String(BigInt(event.created) * TICKS_PER_MILLISECOND));
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position),
  );
};

/** A position sent by a client: `commit` limited to what a number holds, and whether `prepare` is below it. */
export type SentPosition = 'end' | { readonly commit: number; readonly prepareBelow: boolean };

/** @throws BadRequest when prepare is above commit, or commit is not a position */
export const positionOf = (position: streams.ReadReq.Options.Position | undefined): SentPosition => {
  const commit = BigInt(position?.getCommitPosition() ?? '0');
  const prepare = BigInt(position?.getPreparePosition() ?? '0');
  if (commit === MAX_UINT64 && prepare === MAX_UINT64) return 'end';
  if (commit > MAX_INT64 || prepare > commit) throw new BadRequest('This is no position.');
  return { commit: toNumber(commit), prepareBelow: prepare < commit };
};

/** Limited to the largest exact number, which no log reaches. */
export const toNumber = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
