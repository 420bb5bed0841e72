import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Context } from 'koa';

import type { Json } from '../domain/shared/json.js';
import type { Rejection } from '../domain/shared/rejection.js';
import type { Principal, Scope } from '../domain/tenant/scopes.js';

/** A piece of a body or of an answer; a text is sent as UTF-8. */
export type Chunk = string | Uint8Array;

/** One request, checked: what a handler sees. */
export type Call<Params = unknown, Query = unknown, Body = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /**
   * The body of a route that takes bytes, read as it is asked for and once; on every other route nothing.
   * Reading it throws Rejection BODY_TOO_LARGE beyond the route's bound and ClientGone when the client leaves: what was made of it goes then.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Who asks; on routes without a key `anonymous`. */
  readonly principal: Principal;
  readonly requestId: string;
  /** Names this command: stable over all attempts under one Idempotency-Key, fresh otherwise. All ids the request makes are derived from it. */
  readonly commandId: string;
  /** True when an Idempotency-Key names the command: another server may carry it out if this one stands still. */
  readonly keyed: boolean;
  /** True when an earlier attempt at this command died half way: look for its events before making new ones. */
  readonly resumed: boolean;
  /** The global position of the caller's last write through this server, 0 when there is none: what lists over many streams wait for (contract 1.8). */
  readonly wrote: number;
  header(name: string): string | undefined;
  readonly koa: Context;
};

/**
 * An answer of any length, written no faster than the client reads. Its status and headers go out with the first chunk, even an empty one: what is
 * thrown before it is answered as any refusal. What is thrown later is logged and cuts the connection, so that no half of an answer looks whole.
 */
export type StreamedAnswer = {
  readonly type: string;
  /**
   * Begins the answer; not called when the client has left by then. The signal aborts when the client leaves, and on an endless stream when the
   * server stops; `return` of the iterator is called at that moment, whether a chunk is being made or not.
   */
  readonly chunks: (signal: AbortSignal) => AsyncIterable<Chunk>;
  /** Sent between chunks every so often, unless something waits to be read already: then nobody needs to be told more. */
  readonly heartbeat?: { readonly everyMs: number; readonly chunk: Chunk };
};

/** What a handler answers; at most one of `body`, `raw` and `stream`. */
export type Answer = {
  readonly status?: number;
  /** The last revision of the mind's stream that it stands for, -1 when there is none: sent as `Anima-Revision` (contract 1.8). */
  readonly revision?: number;
  /** The global position that its command wrote; the caller's lists wait for it (contract 1.8). */
  readonly position?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is undefined. */
  readonly body?: unknown;
  /** Sent as it is, with this type, instead of JSON. */
  readonly raw?: { readonly type: string; readonly content: Chunk };
  /** Sent as it is made; the definition names it as a stream. */
  readonly stream?: StreamedAnswer;
};

/** A body of bytes, which the handler reads itself, instead of JSON. */
export type AcceptedBytes = {
  /** The media type it must have, in lower case and without parameters; the range of all types takes any, and none. */
  readonly accepts: string;
  /** More are refused: before any is read where the length is announced, else when it is passed. */
  readonly maxBytes: number;
};

/** What a route answers under one status. */
export type ResponseDefinition = {
  readonly description: string;
  readonly schema?: TSchema;
  /** The media type of what is not JSON. */
  readonly contentType?: string;
  /**
   * The answer may come as a stream. A `finite` one has an end of its own and is finished while the server stops, like any running request; an
   * `endless` one ends when the server stops, and has no HEAD, which would never say anything.
   */
  readonly stream?: 'finite' | 'endless';
};

/**
 * One route as one value: it validates (ajv), is walked to make OpenAPI, and is listed on the docs page.
 * `scope` null means no key is needed.
 *
 * Repeats (contract 1.7): the answer to an Idempotency-Key is kept and sent again, and a body is told from another by its digest before anything is
 * done. Neither goes with bytes: a POST that takes the header answers JSON, streams answer GET alone, and a route that takes bytes refuses the
 * header; its handler makes a repeat harmless, for example by naming what it stores by its content. `requireSound` (route-rules.ts) refuses
 * definitions that break this.
 */
export type RouteDefinition<P extends TObject = TObject, Q extends TObject = TObject, B extends TSchema = TSchema> = {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  /** Koa router syntax: `/npcs/:npcId/process`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly scope: Scope | null;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Bytes of JSON; 1 MiB when absent (contract 1.2). */
  readonly bodyLimit?: number;
  /** Takes bytes, not JSON. */
  readonly bytes?: AcceptedBytes;
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  /** Works while the server starts and stops, is never limited (contract 1.3, 10.6, 11.3). */
  readonly always?: boolean;
  /** An addition of ours, tagged `(ext)`. */
  readonly ext?: boolean;
  /** The day since when it is, such as `2026-01-31`; said on every answer (contract 1.9). */
  readonly deprecated?: string;
  /** `POST /rules` alone answers 403 in the specification's short form (contract 1.5). */
  readonly shortForbidden?: boolean;
  /** Requests for which this says true need no key (`GET /metrics` from loopback, contract 1.3). */
  readonly openTo?: (koa: Context) => boolean;
  /** A refusal of the route's own that comes where a missing scope does, before the body is looked at (contract 1.3). */
  readonly forbids?: (principal: Principal) => Rejection | null;
  /** The stream that its command writes to: under an Idempotency-Key its end is noted before anything is done. */
  readonly writesTo?: (call: Call<Static<P>, Static<Q>, Static<B>>) => string | undefined;
  /** What of the answer's body is kept for repeats, where it holds a secret that is shown once (contract 1.7). */
  readonly keepAnswer?: (body: Json) => Json;
  readonly handler: (call: Call<Static<P>, Static<Q>, Static<B>>) => Promise<Answer> | Answer;
};

/** Keeps the schema types of a definition while giving it the common type that the router takes. */
export const route = <P extends TObject, Q extends TObject, B extends TSchema>(
  definition: RouteDefinition<P, Q, B>,
): RouteDefinition => definition as unknown as RouteDefinition;
