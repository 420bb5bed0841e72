import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Context } from 'koa';

import type { Command } from '../streams/run-command.js';
import type { CommandContext } from '../base/command-context.js';
import type { Json } from '../base/json.js';
import type { Rejection, RejectionCode } from '../base/rejection.js';
import { npcStream } from '../base/stream-names.js';
import type { Principal, Scope } from '../base/scopes.js';
import type { AnswerRetention } from '../../ports/idempotency-store.js';

/** A piece of a body or a response; a string is sent as UTF-8. */
export type Chunk = string | Uint8Array;

/** One request, checked: what a handler sees. */
export type Call<Params = unknown, Query = unknown, Body = unknown, Granted = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /**
   * The body of a route that takes bytes, read once and on demand; empty on every other route. Reading it throws Rejection BODY_TOO_LARGE beyond the
   * route's bound, and ClientGone when the client leaves; the handler then drops what it made from it.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The source of the request; `anonymous` on routes without a key. */
  readonly principal: Principal;
  /** What the route's own grant allows (`admits`); undefined on every other route. */
  readonly granted: Granted;
  readonly requestId: string;
  /** Names this command: the same for all attempts under one Idempotency-Key, else new. All ids that the request makes are derived from it. */
  readonly commandId: string;
  /** True when an Idempotency-Key names the command: another server may carry it out if this one freezes. */
  readonly keyed: boolean;
  /** True when an earlier attempt at this command died half way: look for its events before making new ones. */
  readonly resumed: boolean;
  /** True when an earlier attempt was completed and its answer is no longer kept: nothing is decided anew. */
  readonly done: boolean;
  /** Whether the client asks for the stream that the route has beside its JSON (`onDemand`). */
  readonly wantsStream: boolean;
  /** The global position of the caller's last write through this server, 0 if there was none. Lists over many streams wait for it. */
  readonly wrote: number;
  /** Notes a global position that was written for the caller after its answer began; `Answer.position` is for all others. */
  readonly noteWritten: (position: number) => void;
  header(name: string): string | undefined;
  readonly koa: Context;
};

/**
 * An answer of any length, written no faster than the client reads. Its status and headers go out with the first chunk, even an empty one. An error
 * before that chunk is answered like any refusal. A later error is logged and cuts the connection, so half an answer never looks whole.
 */
export type StreamedAnswer = {
  readonly type: string;
  /**
   * Begins the answer; not called when the client has already left. The signal aborts when the client leaves, and for an endless stream when the
   * server stops. The iterator's `return` is called at that moment, whether or not a chunk is being made.
   */
  readonly chunks: (signal: AbortSignal) => AsyncIterable<Chunk>;
  /** Sent between chunks from time to time, unless something still waits to be read. */
  readonly heartbeat?: { readonly everyMs: number; readonly chunk: Chunk };
};

/** What a handler answers; at most one of `body`, `raw` and `stream`. */
export type Answer = {
  readonly status?: number;
  /** The last revision of the mind's stream that the response includes, -1 if there is none. Sent as `Anima-Revision`. */
  readonly revision?: number;
  /** The global position that its command wrote; the caller's lists wait for it. */
  readonly position?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is undefined. */
  readonly body?: unknown;
  /** Sent as it is, with this type, instead of JSON. */
  readonly raw?: { readonly type: string; readonly content: Chunk };
  /** Sent as it is made; the definition names it as a stream. */
  readonly stream?: StreamedAnswer;
  /** What is kept of it for repeats where the route has `restore`, instead of its body. */
  readonly kept?: Json;
};

/** A body of bytes, which the handler reads itself, instead of one of JSON. */
export type AcceptedBytes = {
  /** The media type it must have, in lower case and without parameters. The range of all types accepts any type, or none. */
  readonly accepts: string;
  /** A longer body is refused: before any of it is read if its length is announced, else when it passes the bound. */
  readonly maxBytes: number;
  /** What JSON of this type looks like, for the documentation; the handler checks it itself. */
  readonly schema?: TSchema;
};

/** What a route answers under one status. */
export type ResponseDefinition = {
  readonly description: string;
  readonly schema?: TSchema;
  /** A real answer, for the documentation. */
  readonly example?: unknown;
  /** The media type of what is not JSON. */
  readonly contentType?: string;
  /** Another media type that the answer may have. */
  readonly orType?: string;
  /**
   * The answer may come as a stream. A `finite` stream has an end and is finished while the server stops, like any running request. An `endless`
   * stream ends when the server stops. It has no HEAD, which would never get an answer.
   */
  readonly stream?: 'finite' | 'endless';
  /**
   * A media type that the answer has instead of JSON for who asks for it by `Accept`: a finite stream. Such a request takes no Idempotency-Key, because
   * a stream cannot be kept.
   */
  readonly onDemand?: string;
};

/** What a route is besides its place. */
type RouteMembers<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  Granted = unknown,
> = {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly scope: Scope | null;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A body that works when it is sent as it is, for the documentation. */
  readonly example?: unknown;
  /** Codes with which the handler refuses, for the documentation. What the other members imply is left out. */
  readonly refuses?: readonly RejectionCode[];
  /** The limit of the body in bytes of JSON; 1 MiB by default. */
  readonly bodyLimit?: number;
  /** Takes bytes: of one media type, or of several with a bound for each. The handler then reads JSON itself, too. */
  readonly bytes?: AcceptedBytes | readonly AcceptedBytes[];
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  /** Works while the server starts and stops, and is never rate limited. */
  readonly always?: boolean;
  /** An addition of ours, tagged `(ext)`. */
  readonly ext?: boolean;
  /** The day from which the route is deprecated, such as `2026-01-31`; sent with every response. */
  readonly deprecated?: string;
  /** Whether a 403 has the specification's short form; only `POST /rules`. */
  readonly shortForbidden?: boolean;
  /** Requests for which this returns true need no key (`GET /metrics` from loopback). */
  readonly openTo?: (koa: Context) => boolean;
  /**
   * Admits a request by the route's own grant in `Authorization`, at the point where other routes check the key: before the body. Only without a scope.
   * Throws Rejection UNAUTHORIZED if it is not a grant.
   */
  readonly admits?: (authorization: string | undefined) => Promise<Granted>;
  /** The route's own refusal, at the point where a missing scope is refused: before the body is read. */
  readonly forbids?: (principal: Principal) => Rejection | null;
  /**
   * A permit for a request, taken before anything is reserved or read for it, so that a crowd of refused requests is cheap. What it returns gives the
   * permit back.
   */
  readonly enter?: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>) => () => void;
  /** The stream that its command writes to: under an Idempotency-Key its end is noted before anything is done. */
  readonly writesTo?: (call: Call<Static<P>, Static<Q>, Static<B>>) => string | undefined;
  /** How long an answer is kept for repeats, `within-budget` when absent. `never`, where asking again changes nothing. */
  readonly retention?: AnswerRetention | ((call: Call<Static<P>, Static<Q>, Static<B>>) => AnswerRetention);
  /** The part of the response body that is kept for repeats, if the body holds a secret that is shown once. */
  readonly keepAnswer?: (body: Json) => Json;
  /**
   * Makes an answer again for a repeat from what was kept of the first one (`Answer.kept`): for answers that are too large to be kept, or that time
   * changes. Refusals are kept as they are. What it throws is answered, and changes nothing that is kept.
   */
  readonly restore?: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>, kept: Json) => Promise<Answer>;
  readonly handler: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>) => Promise<Answer> | Answer;
};

type Place = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  /** Koa router syntax: `/npcs/:npcId/process`. */
  readonly path: string;
};
/**
 * One route as one value. It validates requests (ajv), makes its part of OpenAPI, and is listed on the docs page.
 * A `scope` of null means that no key is needed.
 *
 * Repeats: the response to an Idempotency-Key is kept and sent again, and the body's digest is compared before anything is done. Neither works with
 * bytes. So a POST that accepts the header answers JSON, a POST streams only what it can make again (`restore`), and a route that accepts bytes refuses
 * the header. The handler of such a route makes a repeat harmless, for example by naming stored data by its content. `requireSound` (route-rules.ts)
 * refuses definitions that break this.
 */
export type RouteDefinition = Place & RouteMembers;

/** Defines a route, and keeps the types of its schemas for its handler while giving it the common type that the router takes. */
export const route = <P extends TObject, Q extends TObject, B extends TSchema, Granted = undefined>(
  method: Place['method'],
  path: string,
  members: RouteMembers<P, Q, B, Granted>,
): RouteDefinition => ({ method, path, ...members }) as unknown as RouteDefinition;

/** The responses of a route that has one, with JSON. */
export const ok = (description: string, schema: TSchema, example?: unknown): RouteDefinition['responses'] => ({
  200: { description, schema, ...(example === undefined ? {} : { example }) },
});

/** On whose behalf a request's events are recorded. */
export const onBehalfOf = (call: Call): CommandContext => ({
  tenant: call.principal.tenant,
  actor: call.principal.keyId,
  commandId: call.commandId,
  correlationId: call.requestId,
  causationId: null,
});

/** The command that a request is, under which its events are recorded. */
export const contextOf = (call: Call): Required<Command> => {
  const { keyed, resumed, done } = call;
  return Object.assign(onBehalfOf(call), { keyed, resumed, done });
};

/** The stream of the mind that a request's path names. */
export const mindStream = ({ principal, params }: Call<{ npcId: string }>): string =>
  npcStream(principal.tenant, params.npcId);

/** Like mindStream, for the agent family: an agentId is an npcId. */
export const agentStream = ({ principal, params }: Call<{ agentId: string }>): string =>
  npcStream(principal.tenant, params.agentId);
