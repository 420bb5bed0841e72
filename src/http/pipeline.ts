import type { Context } from 'koa';

import type { Written } from '../app/read-models/written.js';
import { inSlices } from '../concurrency/in-slices.js';
import { makeCommandId, reservedAt } from '../app/streams/command-id.js';
import type { Json } from '../domain/shared/json.js';
import { type ParsedJson, readJsonSlices } from '../domain/shared/read-json.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { Principal } from '../domain/tenant/scopes.js';
import type { Clock } from '../ports/clock.js';
import type { IdempotencyStore, KeptAnswer, KeyedRequest } from '../ports/idempotency-store.js';
import type { Log } from '../ports/log.js';
import type { Random } from '../ports/random.js';
import { type Exchange, exchangeOf } from './exchange.js';
import { admit, anonymous, type Gate, requireOneAuthorization } from './guard/admit.js';
import { repeatable, repeatedBody, reserve, settle } from './guard/idempotency.js';
import { compileDropNulls } from './guard/null-members.js';
import { largeBodies } from './guard/large-bodies.js';
import { compileMisspelt } from './guard/misspelt.js';
import { compilePathParams } from './guard/path-params.js';
import { compileQuery } from './guard/query.js';
import { announcesBody, DEFAULT_BODY_LIMIT, openBody, readBody, requireJson } from './guard/read-body.js';
import { compileCheck, schemaRejection } from './guard/schema-check.js';
import type { Lifecycle } from './lifecycle.js';
import { refusalOf, toRejection } from './on-error.js';
import { send, sendJson } from './respond.js';
import type { Answer, Call, RouteDefinition, StreamedAnswer } from './route.js';
import { requireSound } from './route-rules.js';
import { addHeaders, memberWarning } from './warning.js';
import { sendStream } from './send-stream.js';

export type PipelineDeps = {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Null while the ports are not open: then only routes without a key answer. */
  readonly keys: (Gate & Reserving & { readonly written: Written }) | null;
};

/** What requests under an Idempotency-Key need. */
export type Reserving = {
  readonly idempotency: IdempotencyStore;
  /** A revision that the stream has reached, at best its last one. */
  readonly revisionOf: (stream: string) => Promise<number>;
};

/** Runs one route for one request; `segments` are the raw path parameters, in order. */
export type Pipeline = (ctx: Context, segments: readonly string[]) => Promise<void>;

const BYTES_TAKE_NO_KEY =
  'This route does not accept an Idempotency-Key; you can safely send the same bytes again without it.';
const STREAM_TAKES_NO_KEY =
  'A stream cannot be kept for repeats: send the Idempotency-Key without this Accept, or the Accept alone.';

const emptyBody = (): ParsedJson => ({ value: {}, mayHoldNull: false });

/** The body of a route that takes none. */
const noBytes: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** An answer with the header for its revision. */
const withRevision = (answer: Answer): Answer =>
  answer.revision === undefined || answer.revision < 0
    ? answer
    : { ...answer, headers: { 'Anima-Revision': String(answer.revision), ...answer.headers } };

/** Fills the response with an answer that is whole. */
const answerWith = (ctx: Context, exchange: Exchange, answer: Answer): void => {
  const status = answer.status ?? 200;
  addHeaders(exchange.headers, answer.headers);
  if (answer.raw !== undefined) send(ctx, status, exchange.headers, answer.raw.type, answer.raw.content);
  else sendJson(ctx, status, exchange.headers, answer.body);
};

/** What every answer of a deprecated route carries (RFC 9745, contract 1.9). */
const deprecationOf = ({ deprecated, operationId }: RouteDefinition): Readonly<Record<string, string>> | null =>
  deprecated === undefined
    ? null
    : {
        Deprecation: `@${String(Date.parse(deprecated) / 1000)}`,
        Link: `</docs#${operationId}>; rel="deprecation"`,
      };

/**
 * Whether an `Accept` header names this very media type. A range such as any type does not ask for a stream, and neither does a type with the weight 0
 * (RFC 9110, 12.5.1).
 */
const asksFor = (accept: string | undefined, type: string): boolean =>
  (accept ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });

/**
 * Compiles one definition into the handling of its requests. The order of refusals is contract 1.3: 401, 429, 403, 413, 415, 400, then what the
 * handler finds. The router gives 404 and 405.
 */
export const compilePipeline = (definition: RouteDefinition, deps: PipelineDeps): Pipeline => {
  requireSound(definition);
  const accepted = definition.bytes === undefined ? null : [definition.bytes].flat();
  const limit = definition.bodyLimit ?? DEFAULT_BODY_LIMIT;
  const crowd = limit > DEFAULT_BODY_LIMIT ? largeBodies() : null;
  const readParams = compilePathParams(definition.path, definition.params);
  const readQuery = compileQuery(definition.query);
  const dropNulls = definition.body === undefined ? null : compileDropNulls(definition.body);
  const findMisspelt = definition.body === undefined ? null : compileMisspelt(definition.body);
  const checkBody = definition.body === undefined ? null : compileCheck('body', definition.body);
  const deprecation = deprecationOf(definition);

  const identify = async (ctx: Context, exchange: Exchange): Promise<Principal> => {
    requireOneAuthorization(ctx.req);
    if (definition.scope === null || definition.openTo?.(ctx) === true) return anonymous;
    if (deps.keys === null) throw new Rejection('NOT_READY');
    return admit(deps.keys, definition, ctx.req, exchange.headers);
  };

  const readJson = async (ctx: Context): Promise<ParsedJson> => {
    if (!announcesBody(ctx.req)) return emptyBody();
    const bytes = await readBody(ctx.req, ctx.res, limit);
    if (bytes.length === 0) return emptyBody();
    requireJson(ctx.req);
    return inSlices(readJsonSlices(bytes));
  };

  const handled = async (call: Call): Promise<Answer> => {
    const result = definition.handler(call as never);
    const answer = result instanceof Promise ? await result : result;
    if (answer.position !== undefined) call.noteWritten(answer.position);
    return withRevision(answer);
  };

  const refuseKey = (message: string): never => {
    throw new Rejection('HEADER_INVALID', { message, details: { header: 'Idempotency-Key' } });
  };

  /** The stream that one may ask for instead of JSON. */
  const onDemand = Object.values(definition.responses).find((response) => response.onDemand !== undefined)?.onDemand;

  /** @throws Error when the definition does not name this answer as a stream */
  const sendDefined = (ctx: Context, exchange: Exchange, answer: Answer, stream: StreamedAnswer): Promise<void> => {
    const status = answer.status ?? 200;
    const { stream: always, onDemand } = definition.responses[status] ?? {};
    const kind = always ?? (onDemand === undefined ? undefined : 'finite');
    if (kind === undefined) throw new Error(`${definition.operationId} does not say that it streams ${String(status)}`);
    addHeaders(exchange.headers, answer.headers);
    return sendStream(ctx, exchange, status, stream, kind, deps);
  };

  const reply = async (ctx: Context, exchange: Exchange, answer: Answer): Promise<void> => {
    if (answer.stream === undefined) answerWith(ctx, exchange, answer);
    else await sendDefined(ctx, exchange, answer, answer.stream);
  };

  const replay = async (ctx: Context, exchange: Exchange, call: Call, kept: KeptAnswer): Promise<void> => {
    const { status } = kept;
    const headers = { ...kept.headers, 'Idempotency-Replayed': 'true' };
    if (definition.restore !== undefined && status < 400) {
      const again = await definition.restore(call as never, kept.body);
      return reply(ctx, exchange, { ...again, status, headers: { ...again.headers, ...headers } });
    }
    const body = status === 204 ? undefined : repeatedBody(kept, exchange.requestId);
    answerWith(ctx, exchange, { status, headers, body });
  };

  /**
   * A place for the request. While the engine is away, the answer that is kept for a repeat, which needs none. When it is only busy nothing is looked up,
   * because that would be more work, and the repeat gets its place later.
   * @throws what `enter` throws
   */
  const placeFor = async (
    call: Call,
    request: KeyedRequest | null,
  ): Promise<{ readonly leave?: (() => void) | undefined } | { readonly kept: KeptAnswer }> => {
    try {
      return { leave: definition.enter?.(call as never) };
    } catch (refusal) {
      const isAway = refusal instanceof Rejection && refusal.code === 'ENGINE_UNAVAILABLE';
      if (!isAway || request === null || deps.keys === null) throw refusal;
      const { idempotency } = deps.keys;
      const kept = await idempotency.kept(request).catch(() => null);
      if (kept === null) throw refusal;
      return { kept };
    }
  };

  /** Runs the handler under an Idempotency-Key (contract 1.7). */
  const runOnce = async (
    ctx: Context,
    exchange: Exchange,
    call: Call,
    request: KeyedRequest,
    { idempotency: store, revisionOf }: Reserving,
  ) => {
    const stream = definition.writesTo?.(call as never);
    const seed = stream === undefined ? call.commandId : reservedAt(call.commandId, await revisionOf(stream));
    const { keeping: asked = 'within-budget' } = definition;
    const keeping = typeof asked === 'function' ? asked(call as never) : asked;
    const turn = await reserve(store, request, seed);
    if (turn.kind === 'repeat') {
      await replay(ctx, exchange, call, turn.answer);
      return;
    }
    const named: Call = { ...call, commandId: turn.seed, keyed: true, resumed: turn.resumed, done: turn.done };
    let answer: Answer;
    try {
      answer = await handled(named);
    } catch (thrown) {
      const rejection = toRejection(thrown, deps.log, {
        requestId: exchange.requestId,
        operation: exchange.operationId,
      });
      const refusal = refusalOf(rejection, exchange.requestId, definition.shortForbidden === true);
      await settle(store, request, refusal, keeping, deps.log);
      throw rejection;
    }
    const body = (definition.restore === undefined ? answer.body : answer.kept) ?? null;
    const kept = definition.keepAnswer === undefined ? (body as Json) : definition.keepAnswer(body as Json);
    const toKeep = { status: answer.status ?? 200, headers: answer.headers ?? {}, body: kept };
    await settle(store, request, toKeep, keeping, deps.log);
    await reply(ctx, exchange, answer);
  };

  const proceed = async (
    ctx: Context,
    exchange: Exchange,
    principal: Principal,
    segments: readonly string[],
  ): Promise<void> => {
    const { admits } = definition;
    const granted = admits === undefined ? undefined : await admits(ctx.req.headers.authorization);
    const bytes = accepted === null ? null : openBody(ctx.req, ctx.res, accepted);
    const parsed = bytes === null ? await readJson(ctx) : emptyBody();
    const params = readParams(segments);
    const { query, issues } = readQuery(exchange.query);
    const key =
      definition.method === 'POST' && principal !== anonymous ? ctx.req.headers['idempotency-key'] : undefined;
    // A body of bytes has no digest before it is read, so a repeat cannot be told from another request (contract 1.7).
    if (key !== undefined && bytes !== null) refuseKey(BYTES_TAKE_NO_KEY);
    const wantsStream = onDemand !== undefined && asksFor(ctx.req.headers.accept, onDemand);
    if (key !== undefined && wantsStream) refuseKey(STREAM_TAKES_NO_KEY);
    const request =
      typeof key === 'string'
        ? await repeatable(
            key,
            principal.tenant,
            [principal.keyId, definition.method, definition.path, ...Object.values(params)],
            parsed.value,
          )
        : null;
    if (parsed.mayHoldNull) dropNulls?.(parsed.value);
    if (findMisspelt !== null) addHeaders(exchange.headers, memberWarning(findMisspelt(parsed.value)));
    const bodyIssues = checkBody?.(parsed.value) ?? null;
    if (bodyIssues !== null || issues.length > 0) throw schemaRejection([...issues, ...(bodyIssues ?? [])]);

    const call: Call = {
      params,
      query,
      body: parsed.value,
      bytes: bytes ?? noBytes,
      principal,
      granted,
      requestId: exchange.requestId,
      commandId: makeCommandId(deps.clock, deps.random),
      keyed: false,
      resumed: false,
      done: false,
      wantsStream,
      wrote: deps.keys?.written.position(principal.keyId) ?? 0,
      noteWritten: (position) => deps.keys?.written.noted(principal.keyId, position),
      header: (name) => {
        const value = ctx.req.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      koa: ctx,
    };
    const place = await placeFor(call, request);
    if ('kept' in place) {
      await replay(ctx, exchange, call, place.kept);
      return;
    }
    try {
      if (request !== null && deps.keys !== null) {
        await runOnce(ctx, exchange, call, request, deps.keys);
        return;
      }
      await reply(ctx, exchange, await handled(call));
    } finally {
      place.leave?.();
    }
  };

  return async (ctx, segments) => {
    const exchange = exchangeOf(ctx);
    exchange.operationId = definition.operationId;
    if (deprecation !== null) Object.assign(exchange.headers, deprecation);
    if (definition.always !== true && deps.lifecycle.phase !== 'ready') throw new Rejection('NOT_READY');

    const principal = await identify(ctx, exchange);
    // Kept until an answer in pieces is made: the parsed body is in memory as long as that is made from it.
    const leave = crowd?.enter(ctx.req, principal.tenant);
    try {
      await proceed(ctx, exchange, principal, segments);
    } finally {
      leave?.();
    }
  };
};
