import { Rejection } from '../../domain/shared/rejection.js';
import { anonymous } from '../guard/admit.js';
import { repeatable } from '../guard/idempotency.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';
import { asksFor, onDemandOf } from './check-request.js';

const BYTES_TAKE_NO_KEY =
  'This route does not accept an Idempotency-Key; you can safely send the same bytes again without it.';
const STREAM_TAKES_NO_KEY =
  'A stream cannot be kept for repeats: send the Idempotency-Key without this Accept, or the Accept alone.';

const refuseKey = (message: string): never => {
  throw new Rejection('HEADER_INVALID', { message, details: { header: 'Idempotency-Key' } });
};

/**
 * Names a request under its Idempotency-Key, by its body as it was sent (contract 1.7).
 * @throws Rejection HEADER_INVALID
 */
export const nameAttempt = (definition: RouteDefinition): RequestMiddleware => {
  const { method, path, bytes } = definition;
  const onDemand = onDemandOf(definition);
  return async (ctx, next) => {
    const { state } = ctx;
    const { principal } = state;
    const { headers } = ctx.req;
    const key = principal === anonymous ? undefined : headers['idempotency-key'];
    if (key !== undefined) {
      // A body of bytes has no digest before it is read, so a repeat cannot be told from another request.
      if (bytes !== undefined) refuseKey(BYTES_TAKE_NO_KEY);
      if (onDemand !== undefined && asksFor(headers.accept, onDemand)) refuseKey(STREAM_TAKES_NO_KEY);
      const route = [principal.keyId, method, path, ...Object.values(state.params)];
      state.attempt = await repeatable(String(key), principal.tenant, route, state.json.value);
    }
    return next();
  };
};
