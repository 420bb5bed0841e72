import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Context } from 'koa';

import type { Json } from '../domain/shared/json.js';
import type { Rejection } from '../domain/shared/rejection.js';
import type { Principal, Scope } from '../domain/tenant/scopes.js';

/** One request, checked: what a handler sees. */
export type Call<Params = unknown, Query = unknown, Body = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Who asks; on routes without a key `anonymous`. */
  readonly principal: Principal;
  readonly requestId: string;
  /** Names this command: stable over all attempts under one Idempotency-Key, fresh otherwise. All ids the request makes are derived from it. */
  readonly commandId: string;
  /** True when an Idempotency-Key names the command: another server may carry it out if this one stands still. */
  readonly keyed: boolean;
  /** True when an earlier attempt at this command died half way: look for its events before making new ones. */
  readonly resumed: boolean;
  header(name: string): string | undefined;
  /** For the few routes that stream; everything else returns an Answer. */
  readonly koa: Context;
};

export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is undefined. */
  readonly body?: unknown;
  /** Sent as it is, with this type, instead of JSON. */
  readonly text?: { readonly type: string; readonly content: string };
  /** The handler has taken over the response (event streams). */
  readonly streamed?: true;
};

/**
 * One route as one value: it validates (ajv), is walked to make OpenAPI, and is listed on the docs page.
 * `scope` null means no key is needed.
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
  /** Bytes; 1 MiB when absent (contract 1.2). */
  readonly bodyLimit?: number;
  readonly responses: Readonly<
    Record<number, { readonly description: string; readonly schema?: TSchema; readonly contentType?: string }>
  >;
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
