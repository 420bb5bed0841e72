import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Context } from 'koa';

import type { Command } from '../streams/run-command.js';
import type { CommandContext } from '../base/command-context.js';
import type { DecidingMembers } from './guard/misspelt-member.js';
import type { Json } from '../base/json.js';
import type { Rejection, RejectionCode } from '../base/rejection.js';
import { npcStream } from '../base/stream-names.js';
import type { Principal, Scope } from '../base/scopes.js';
import type { AnswerRetention } from '../../ports/idempotency-store.js';
import type { RequestHeader, ResponseHeader } from './headers.js';

/** A piece of a body or a response; a string is sent as UTF-8. */
export type Chunk = string | Uint8Array;

/** One checked request, as the handler gets it. */
export type Call<Params = unknown, Query = unknown, Body = unknown, Granted = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /**
   * The body of a route that accepts bytes, read once and on demand; empty on every other route. Reading it throws Rejection BODY_TOO_LARGE beyond
   * the route's limit, and ClientGone if the client disconnects; the handler then drops what it made from it.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The source of the request; `anonymous` on routes without a key. */
  readonly principal: Principal;
  /** What the route's own grant allows (`admits`); undefined on every other route. */
  readonly granted: Granted;
  readonly requestId: string;
  /**
   * Identifies this command: the same for all attempts under one Idempotency-Key, otherwise new. All ids that the request creates are derived from
   * it.
   */
  readonly commandId: string;
  /** True if an Idempotency-Key identifies the command: another server may carry it out if this one freezes. */
  readonly keyed: boolean;
  /** True if an earlier attempt at this command was interrupted: look for its events before creating new ones. */
  readonly resumed: boolean;
  /** True if an earlier attempt was completed and its response is no longer stored: nothing is decided again. */
  readonly done: boolean;
  /** Whether the client requests the stream that the route offers as an alternative to JSON (`onDemand`). */
  readonly wantsStream: boolean;
  /** The global position of the caller's last write through this server, 0 if there was none. Lists over many streams wait for it. */
  readonly wrote: number;
  /** Records a global position that was written for the caller after its response began; all others are in `Answer.position`. */
  readonly noteWritten: (position: number) => void;
  header(name: string): string | undefined;
  readonly koa: Context;
};

/**
 * A response of any length, written no faster than the client reads. Its status and headers are sent with the first chunk, even an empty one. An
 * error before that chunk is handled like any refusal. A later error is logged and closes the connection, so a partial response never looks complete.
 */
export type StreamedAnswer = {
  readonly type: string;
  /**
   * Begins the response; not called if the client has already disconnected. The signal aborts when the client disconnects, and for an endless stream
   * when the server stops. The iterator's `return` is called at that moment, whether or not a chunk is being made.
   */
  readonly chunks: (signal: AbortSignal) => AsyncIterable<Chunk>;
  /** Sent between chunks from time to time, unless data is still waiting to be read. */
  readonly heartbeat?: { readonly everyMs: number; readonly chunk: Chunk };
};

/** The response of a handler, with at most one of `body`, `raw` and `stream`. */
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
  /** What is stored for repeated requests instead of the body, if the route has `restore`. */
  readonly kept?: Json;
  /** A part of the command was refused for now: the response is not stored, and a repeated request completes the command. */
  readonly isPassing?: boolean;
};

/** A body of bytes, which the handler reads itself, instead of a JSON body. */
export type AcceptedBytes = {
  /** The media type it must have, in lower case and without parameters. The range of all types accepts any type, or none. */
  readonly accepts: string;
  /** A longer body is refused: before any of it is read if its length is announced, otherwise when it exceeds the limit. */
  readonly maxBytes: number;
  /** The schema of JSON of this type, for the documentation; the handler checks it itself. */
  readonly schema?: TSchema;
};

/** The response of a route with one status. */
export type ResponseDefinition = {
  readonly description: string;
  readonly schema?: TSchema;
  /** A real response, for the documentation. */
  readonly example?: unknown;
  /** The media type of a response other than JSON. */
  readonly contentType?: string;
  /** Another media type that the response may have, or several. */
  readonly orType?: string | readonly string[];
  /**
   * The response may be a stream. A `finite` stream has an end and is completed while the server stops, like any running request. An `endless` stream
   * ends when the server stops. It does not support HEAD, which would never get a response.
   */
  readonly stream?: 'finite' | 'endless';
  /**
   * The media type of a finite stream that a client can request with `Accept` instead of JSON. Such a request does not accept an Idempotency-Key,
   * because a stream cannot be stored.
   */
  readonly onDemand?: string;
};

/** The definition of a route without its method and path. */
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
  /** Another scope that allows the route alone. */
  readonly orScope?: Scope;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The members of the body that decide. One that seems to be one of them, but has another name or place, is refused. */
  readonly deciding?: DecidingMembers;
  /** A body that is valid as it is, for the documentation. */
  readonly example?: unknown;
  /** Codes with which the handler refuses, for the documentation. Codes that the other members imply are left out. */
  readonly refuses?: readonly RejectionCode[];
  /** Request headers that the handler reads, for the documentation. What the other members imply is left out. */
  readonly reads?: readonly RequestHeader[];
  /** Headers of the successful responses, for the documentation. What the other members imply is left out. */
  readonly sends?: readonly ResponseHeader[];
  /** The limit of the body in bytes of JSON; 1 MiB by default. */
  readonly bodyLimit?: number;
  /** Accepts bytes: of one media type, or of several with a limit for each. The handler then also reads JSON itself. */
  readonly bytes?: AcceptedBytes | readonly AcceptedBytes[];
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  /** Works while the server starts and stops, and is never rate limited. */
  readonly always?: boolean;
  /** An addition to the specification, tagged `(ext)`. */
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
  /** The parameter of the path with the NPC to whom a player may speak by a token; absent if the route is not for players. */
  readonly speaksTo?: keyof Static<P> & string;
  /**
   * Acquires a permit for a request before anything is reserved or read for it, so that refusing many requests is cheap. The returned function
   * releases the permit.
   */
  readonly enter?: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>) => () => void;
  /** The stream to which its command writes: under an Idempotency-Key its end is recorded before anything else happens. */
  readonly writesTo?: (call: Call<Static<P>, Static<Q>, Static<B>>) => string | undefined;
  /** Its command writes to many streams: under an Idempotency-Key the end of the log is recorded before anything else happens. */
  readonly writesWidely?: true;
  /** How long a response is stored for repeated requests; `within-budget` if absent. `never` if repeating the request changes nothing. */
  readonly retention?: AnswerRetention | ((call: Call<Static<P>, Static<Q>, Static<B>>) => AnswerRetention);
  /** The part of the response body that is stored for repeated requests, if the body contains a secret that is shown once. */
  readonly keepAnswer?: (body: Json) => Json;
  /**
   * Rebuilds the response for a repeated request from the stored data of the first one (`Answer.kept`): for responses that are too large to store, or
   * that change with time. Refusals are stored as they are. An error that it throws becomes the response, and does not change the stored data.
   */
  readonly restore?: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>, kept: Json) => Promise<Answer>;
  readonly handler: (call: Call<Static<P>, Static<Q>, Static<B>, Granted>) => Promise<Answer> | Answer;
};

type Place = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  /** Koa router syntax: `/npcs/:npcId/process`. */
  readonly path: string;
};
/**
 * One route as one value. It defines the validation of requests (ajv) and the route's part of the OpenAPI document and the docs page. A `scope` of
 * null means that no key is needed.
 *
 * Repeated requests: the response to an Idempotency-Key is stored and sent again, and the body's digest is compared before anything else happens.
 * Neither works with bytes. So a POST that accepts the header responds with JSON, a POST streams only what it can rebuild (`restore`), and a route
 * that accepts bytes refuses the header. The handler of such a route must make a repeated request harmless, for example by naming stored data by its
 * content. `requireSound` (route-rules.ts) refuses definitions that break this.
 */
export type RouteDefinition = Place & RouteMembers;

/** Defines a route: its handler gets the types of its schemas, and the result has the common type that the router accepts. */
export const route = <P extends TObject, Q extends TObject, B extends TSchema, Granted = undefined>(
  method: Place['method'],
  path: string,
  members: RouteMembers<P, Q, B, Granted>,
): RouteDefinition => ({ method, path, ...members }) as unknown as RouteDefinition;

/** The responses of a route with a single JSON response. */
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

/** The command of a request, under which its events are recorded. */
export const contextOf = (call: Call): Required<Command> => {
  const { keyed, resumed, done } = call;
  return Object.assign(onBehalfOf(call), { keyed, resumed, done });
};

/** The stream of the mind named in the path of a request. */
export const mindStream = ({ principal, params }: Call<{ npcId: string }>): string =>
  npcStream(principal.tenant, params.npcId);

/** Whether a route runs commands that a repeat could apply twice, so that an Idempotency-Key names them: all with these methods and a key. */
export const isRepeatable = ({ method, scope }: Pick<RouteDefinition, 'method' | 'scope'>): boolean =>
  (method === 'POST' || method === 'PATCH') && scope !== null;

/** Like mindStream, for the agent family: an agentId is an npcId. */
export const agentStream = ({ principal, params }: Call<{ agentId: string }>): string =>
  npcStream(principal.tenant, params.agentId);
