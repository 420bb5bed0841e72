import { reservedAfter, reservedAt } from '../../streams/command-id.js';
import type { Json } from '../../base/json.js';
import type { IdempotencyStore, StoredAnswer, KeyedRequest } from '../../../ports/idempotency-store.js';
import type { Log } from '../../../ports/log.js';
import { repeatedBody, reserve, settle } from '../guard/idempotency.js';
import { isPermanent, refusalOf, toRejection } from '../on-error.js';
import type { Answer, Call, RouteDefinition } from '../route.js';
import type { RequestMiddleware, RequestState } from '../request-state.js';

/** The dependencies of requests under an Idempotency-Key. */
export type Reserving = {
  readonly idempotency: IdempotencyStore;
  /** A revision that the stream has reached, ideally its last one. */
  readonly revisionOf: (stream: string) => Promise<number>;
  /** The position of the last event of all streams, or an earlier one. */
  readonly lastPosition: () => Promise<number>;
};

/** The response to a repeated request, made from the stored data of the first one. */
export const repeated = async (definition: RouteDefinition, call: Call, kept: StoredAnswer): Promise<Answer> => {
  const { status } = kept;
  const headers = { ...kept.headers, 'Idempotency-Replayed': 'true' };
  if (definition.restore !== undefined && status < 400) {
    const again = await definition.restore(call as never, kept.body);
    return { ...again, status, headers: { ...again.headers, ...headers } };
  }
  return { status, headers, body: status === 204 ? undefined : repeatedBody(kept, call.requestId) };
};

/** Runs the next middleware once per Idempotency-Key, and answers repeated requests with the stored response. */
export const runOnce = (
  definition: RouteDefinition,
  { idempotency: store, revisionOf, lastPosition }: Reserving,
  log: Log,
): RequestMiddleware => {
  const seedOf = async (call: Call): Promise<string> => {
    if (definition.writesWidely === true) return reservedAfter(call.commandId, await lastPosition());
    const stream = definition.writesTo?.(call as never);
    return stream === undefined ? call.commandId : reservedAt(call.commandId, await revisionOf(stream));
  };
  const once = async (state: RequestState, attempt: KeyedRequest, next: () => Promise<void>): Promise<void> => {
    const { call, requestId, operationId: operation } = state;
    const seed = await seedOf(call);
    const { retention: asked = 'within-budget' } = definition;
    const retention = typeof asked === 'function' ? asked(call as never) : asked;
    const use = await reserve(store, attempt, seed);
    if (use.kind === 'repeat') {
      state.answer = await repeated(definition, call, use.answer);
      return;
    }
    state.call = { ...call, commandId: use.seed, keyed: true, resumed: use.resumed, done: use.done };
    try {
      await next();
    } catch (thrown) {
      const rejection = toRejection(thrown, log, { requestId, operation });
      const refusal = refusalOf(rejection, requestId, definition.shortForbidden === true);
      await settle(store, attempt, refusal, { retention, isPermanent: isPermanent(rejection) }, log);
      throw rejection;
    }
    const { status = 200, headers = {}, body, kept, isPassing = false } = state.answer;
    const whole = ((definition.restore === undefined ? body : kept) ?? null) as Json;
    const toKeep = {
      status,
      headers,
      body: definition.keepAnswer === undefined ? whole : definition.keepAnswer(whole),
    };
    await settle(store, attempt, toKeep, { retention, isPermanent: !isPassing && status !== 429 && status < 500 }, log);
  };
  return ({ state }, next) => (state.attempt === null ? next() : once(state, state.attempt, next));
};
