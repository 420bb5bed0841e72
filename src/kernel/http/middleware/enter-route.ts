import { Rejection } from '../../base/rejection.js';
import type { IdempotencyStore } from '../../../ports/idempotency-store.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';
import { releaseAfter } from './release.js';
import type { Send } from './reply.js';
import { repeated } from './run-once.js';

/**
 * Acquires the route's own permit for a request, until its response is made, or its stream was read or abandoned. While the runtime is unavailable, a
 * repeated request gets the stored response, which needs no permit. If the runtime is only busy, nothing is looked up, because that would be more
 * work, and the repeated request gets its permit later.
 * @throws what `enter` throws
 */
export const enterRoute = (
  definition: RouteDefinition & { readonly enter: NonNullable<RouteDefinition['enter']> },
  idempotency: Pick<IdempotencyStore, 'storedAnswer'> | null,
  send: Send,
): RequestMiddleware => {
  const answerOf = async ({ attempt }: { readonly attempt: Parameters<IdempotencyStore['storedAnswer']>[0] | null }) =>
    attempt === null || idempotency === null ? null : idempotency.storedAnswer(attempt).catch(() => null);
  return async (ctx, next) => {
    const { state } = ctx;
    let release: () => void;
    try {
      release = definition.enter(state.call as never);
    } catch (refusal) {
      const isAway = refusal instanceof Rejection && refusal.code === 'ENGINE_UNAVAILABLE';
      const kept = isAway ? await answerOf(state) : null;
      if (kept === null) throw refusal;
      return send(ctx, await repeated(definition, state.call, kept));
    }
    return releaseAfter(ctx, next, release);
  };
};
