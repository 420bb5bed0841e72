import type { sendUnaryData, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import wellKnown from 'google-protobuf/google/protobuf/empty_pb.js';

import { appendTooLarge, asStatus, BadRequest, MAX_APPEND_BYTES } from './errors.js';
import type { Expected } from './expectation.js';
import type { Like } from './like.js';
import type { Log, Outcome, ProposedEvent, Write } from './log.js';
import { NOT_READY, type Trouble } from './trouble.js';
import { idOf, MAX_INT64, MAX_UINT64, streamName } from './wire.js';

/** How many appends of one batch call may wait for their answers; beyond that the call is not read further. */
const UNANSWERED = 1_000;

type Proposed = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage;
type Options = streams.AppendReq.Options | streams.BatchAppendReq.Options;

const proposed = (message: Proposed): ProposedEvent => {
  const type = message.getMetadataMap().get('type') ?? '';
  if (type === '') throw new BadRequest('An event has no type.');
  const json = message.getMetadataMap().get('content-type') === 'application/json';
  return {
    id: idOf(message.getId()),
    type,
    json,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

const revision = (text: string): Expected => {
  const value = BigInt(text);
  if (value === MAX_UINT64) return 'no_stream';
  if (value > MAX_INT64) throw new BadRequest(`${text} is no revision.`);
  return value;
};

const expectedOf = (options: Options): Expected => {
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasAny()) return 'any';
  return revision(options instanceof streams.AppendReq.Options ? options.getRevision() : options.getStreamPosition());
};

const writeOf = (options: Options | undefined, messages: readonly Proposed[]): Write => {
  if (options === undefined) throw new BadRequest('An append names no stream.');
  const stream = streamName(options.getStreamIdentifier());
  return { stream, expected: expectedOf(options), events: messages.map(proposed) };
};

const tooLarge = ({ appendBytes }: Like, { events }: Write): boolean =>
  events.reduce((sum, event) => sum + appendBytes(event), 0) > MAX_APPEND_BYTES;

/** Append: one call, one write. A conflict is an answer; any other failure is the call's status. */
export const append =
  (log: Log, like: Like) =>
  (
    call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
    answer: sendUnaryData<streams.AppendResp>,
  ): void => {
    let options: streams.AppendReq.Options | undefined;
    const messages: streams.AppendReq.ProposedMessage[] = [];
    call.on('data', (request: streams.AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message !== undefined) messages.push(message);
    });
    call.on('end', () => {
      try {
        const write = writeOf(options, messages);
        if (tooLarge(like, write)) answer(appendTooLarge());
        else log.append(write, (outcome) => answer(null, answerOf(options, outcome)));
      } catch (error) {
        answer(asStatus(error));
      }
    });
  };

const answerOf = (options: streams.AppendReq.Options | undefined, outcome: Outcome): streams.AppendResp => {
  const empty = new shared.Empty();
  if (outcome.ok) {
    const success = new streams.AppendResp.Success();
    if (outcome.revision < 0) success.setNoStream(empty);
    else success.setCurrentRevision(String(outcome.revision));
    const position = new streams.AppendResp.Position();
    position.setCommitPosition(String(outcome.position)).setPreparePosition(String(outcome.position));
    return new streams.AppendResp().setSuccess(success.setPosition(position));
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (outcome.revision < 0) wrong.setCurrentNoStream(empty);
  else wrong.setCurrentRevision(String(outcome.revision));
  if (options?.hasAny() === true) wrong.setExpectedAny(empty);
  else if (options?.hasStreamExists() === true) wrong.setExpectedStreamExists(empty);
  else if (options?.hasNoStream() === true) wrong.setExpectedNoStream(empty);
  // As it was sent: here even the largest number is not translated to its special meaning.
  else wrong.setExpectedRevision(options?.getRevision() ?? '0');
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
};

export type BatchCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

type Batch = { readonly options: streams.BatchAppendReq.Options | undefined; readonly messages: Proposed[] };

/** BatchAppend: many writes in one call, each with one or more messages and one answer. The answer also carries any error of the write. */
export const batchAppend =
  (log: Log, like: Like, trouble: () => Trouble) =>
  (call: BatchCall): void => {
    const open = new Map<string, Batch>();
    let unanswered = 0;
    let ended = false;
    const respond = (request: streams.BatchAppendReq, batch: Batch, response: streams.BatchAppendResp): void => {
      unanswered -= 1;
      if (unanswered < UNANSWERED) call.resume();
      const stream = batch.options?.getStreamIdentifier();
      call.write(response.setCorrelationId(request.getCorrelationId()).setStreamIdentifier(stream));
      if (ended && unanswered === 0) call.end();
    };
    call.on('data', (request: streams.BatchAppendReq) => {
      const key = Buffer.from(request.getCorrelationId()?.serializeBinary() ?? []).toString('latin1');
      const batch = open.get(key) ?? { options: request.getOptions(), messages: [] };
      batch.messages.push(...request.getProposedMessagesList());
      if (!request.getIsFinal()) return void open.set(key, batch);
      open.delete(key);
      unanswered += 1;
      if (unanswered >= UNANSWERED) call.pause();
      try {
        const write = writeOf(batch.options, batch.messages);
        const { electing = false, denies = [], swallows = false } = trouble();
        if (electing) respond(request, batch, notReady());
        else if (denies.includes('write'))
          respond(request, batch, failed('AccessDenied', new shared.AccessDenied().serializeBinary()));
        else if ((batch.options?.getDeadline()?.toDate().getTime() ?? Infinity) < Date.now())
          respond(request, batch, failed('Timeout', new shared.Timeout().serializeBinary()));
        else if (tooLarge(like, write)) respond(request, batch, failed('MaximumAppendSizeExceeded', sizeDetails()));
        else
          log.append(write, (outcome) => {
            if (!swallows) respond(request, batch, batchAnswerOf(write, outcome));
          });
      } catch (error) {
        const message = new shared.BadRequest().setMessage(error instanceof Error ? error.message : String(error));
        respond(request, batch, failed('BadRequest', message.serializeBinary()));
      }
    });
    call.on('end', () => {
      ended = true;
      if (unanswered === 0) call.end();
    });
    call.on('error', () => call.end());
  };

const sizeDetails = (): Uint8Array =>
  new shared.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_BYTES).serializeBinary();

const CODES = {
  AccessDenied: codes.Code.PERMISSION_DENIED,
  WrongExpectedVersion: codes.Code.ALREADY_EXISTS,
  MaximumAppendSizeExceeded: codes.Code.INVALID_ARGUMENT,
  BadRequest: codes.Code.INVALID_ARGUMENT,
  Timeout: codes.Code.DEADLINE_EXCEEDED,
} as const;

/** An answer of the kind `name`, which is both the text of the status and the type of its details. */
const failed = (name: keyof typeof CODES, details: Uint8Array): streams.BatchAppendResp => {
  const packed = new any.Any();
  packed.pack(details, `event_store.client.${name}`);
  return new streams.BatchAppendResp().setError(
    new status.Status().setCode(CODES[name]).setMessage(name).setDetails(packed),
  );
};

/** Without a leader: the details are an empty message, and only the text has the reason. */
const notReady = (): streams.BatchAppendResp => {
  const packed = new any.Any();
  packed.pack(new wellKnown.Empty().serializeBinary(), 'google.protobuf.Empty');
  return new streams.BatchAppendResp().setError(
    new status.Status().setCode(codes.Code.UNAVAILABLE).setMessage(NOT_READY).setDetails(packed),
  );
};

const batchAnswerOf = ({ expected }: Write, outcome: Outcome): streams.BatchAppendResp => {
  const empty = new wellKnown.Empty();
  if (outcome.ok) {
    const success = new streams.BatchAppendResp.Success();
    if (outcome.revision < 0) success.setNoStream(empty);
    else success.setCurrentRevision(String(outcome.revision));
    const position = new shared.AllStreamPosition();
    position.setCommitPosition(String(outcome.position)).setPreparePosition(String(outcome.position));
    return new streams.BatchAppendResp().setSuccess(success.setPosition(position));
  }
  const wrong = new shared.WrongExpectedVersion();
  if (outcome.revision < 0) wrong.setCurrentNoStream(empty);
  else wrong.setCurrentStreamRevision(String(outcome.revision));
  if (expected === 'any') wrong.setExpectedAny(empty);
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(empty);
  else if (expected === 'no_stream') wrong.setExpectedNoStream(empty);
  else wrong.setExpectedStreamPosition(String(expected));
  return failed('WrongExpectedVersion', wrong.serializeBinary());
};
