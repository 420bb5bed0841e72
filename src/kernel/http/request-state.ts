import type { ParameterizedContext } from 'koa';

import type { ParsedJson } from '../base/read-json.js';
import type { Principal } from '../base/scopes.js';
import type { KeyedRequest } from '../../ports/idempotency-store.js';
import type { Issue } from './guard/schema-check.js';
import type { Answer, Call } from './route.js';

/** The state of one request, in addition to Koa's own context: `ctx.state`. The middleware of its route fills it in, from top to bottom. */
export type RequestState = {
  readonly requestId: string;
  /** The raw path of the request, still escaped. */
  readonly path: string;
  /** The text after the `?`, if any. */
  readonly query: string | undefined;
  /** `unrouted` until a route is found. */
  operationId: string;
  /** The caller, and what the route's own grant allows (authenticate). */
  principal: Principal;
  granted: unknown;
  /** The body, of JSON or of bytes (takeBody). */
  json: ParsedJson;
  bytes: AsyncIterable<Uint8Array>;
  /** The parameters of path and query, and what is wrong with the query (readTarget). */
  params: Readonly<Record<string, string>>;
  search: Readonly<Record<string, unknown>>;
  issues: readonly Issue[];
  /** The request under its Idempotency-Key; null without one (nameAttempt). */
  attempt: KeyedRequest | null;
  /** The request, checked (checkRequest). */
  call: Call;
  /** The response (handle, runOnce). */
  answer: Answer;
  /** Whether Koa was given a stream to send, rather than a complete response (reply). */
  streams: boolean;
  /** What the request waits for before Koa ends a response without a body, if the client is still sending (respond). */
  lingers: Promise<void> | null;
};

export type RequestContext = ParameterizedContext<RequestState>;
export type RequestMiddleware = (ctx: RequestContext, next: () => Promise<void>) => Promise<void> | void;
