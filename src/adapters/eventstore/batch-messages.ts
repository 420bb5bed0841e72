import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';

import type { SerialisedEvent } from '../shared/append-rules.js';

/** The digits of a correlation id that number the appends of a call; the digits before them identify the call. */
export const COUNTER_DIGITS = 12;
const COUNTER_BITS = COUNTER_DIGITS * 4;

/** One append in the server's form, with an exact expectation. Only that makes a repeat recognisable after a restart. */
export type ExactAppend = {
  /** As the server names it. */
  readonly stream: string;
  readonly expected: number | 'no_stream';
  readonly events: readonly SerialisedEvent[];
};

/** The message of one append, the `number`th of a call. */
export const messageOf = (
  callId: string,
  number: number,
  { stream, expected, events }: ExactAppend,
): BatchAppendReq => {
  const options = new streams.BatchAppendReq.Options();
  const name = new shared.StreamIdentifier();
  name.setStreamName(Buffer.from(stream, 'utf8'));
  options.setStreamIdentifier(name);
  // The client ships no other empty message; on the wire all empty messages are the same.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
  if (expected === 'no_stream') options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const message = new streams.BatchAppendReq();
  message.setOptions(options);
  const correlation = new shared.UUID();
  correlation.setString(callId + number.toString(16).padStart(COUNTER_DIGITS, '0'));
  message.setCorrelationId(correlation);
  for (const event of events) {
    const proposed = new streams.BatchAppendReq.ProposedMessage();
    const id = new shared.UUID();
    id.setString(event.id);
    proposed.setId(id);
    proposed.getMetadataMap().set('type', event.type).set('content-type', 'application/json');
    proposed.setData(Buffer.from(event.data, 'utf8'));
    proposed.setCustomMetadata(Buffer.from(event.meta, 'utf8'));
    message.addProposedMessages(proposed);
  }
  message.setIsFinal(true);
  return message;
};

/** Which append of its call an answer is for; the server may return the correlation id as two halves. */
export const numberOf = (response: BatchAppendResp): number => {
  const correlation = response.getCorrelationId();
  const halves = correlation?.getStructured();
  if (halves !== undefined) return Number(BigInt.asUintN(COUNTER_BITS, BigInt(halves.getLeastSignificantBits())));
  return Number.parseInt(correlation?.getString().slice(-COUNTER_DIGITS) ?? '', 16);
};
