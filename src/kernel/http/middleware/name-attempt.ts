import { Rejection } from '../../base/rejection.js';
import { anonymous } from '../guard/admit.js';
import { repeatable } from '../guard/idempotency.js';
import type { KeyedRequest } from '../../../ports/idempotency-store.js';
import type { RequestMiddleware, RequestState } from '../request-state.js';
import type { RouteDefinition } from '../route.js';
import { acceptsType, onDemandOf } from './check-request.js';

const BYTES_TAKE_NO_KEY =
  'This route does not accept an Idempotency-Key. Without it, you can safely send the same bytes again.';
const STREAM_TAKES_NO_KEY =
  'A streamed response cannot be replayed. Send either the Idempotency-Key or this Accept header, not both.';

const refusedKey = (message: string): Rejection =>
  new Rejection('HEADER_INVALID', { message, details: { header: 'Idempotency-Key' } });

/**
 * Identifies a request under its Idempotency-Key by the body as it was sent.
 * @throws Rejection HEADER_INVALID
 */
export const nameAttempt = (definition: RouteDefinition): RequestMiddleware => {
  const { method, path, bytes } = definition;
  const onDemand = onDemandOf(definition);
  const name = async ({ principal, params, json }: RequestState, key: string): Promise<KeyedRequest> => {
    const route = [principal.keyId, method, path, ...Object.values(params)];
    return repeatable(key, principal.tenant, route, json.value);
  };
  return (ctx, next) => {
    const { state } = ctx;
    const { headers } = ctx.req;
    const key = headers['idempotency-key'];
    if (key === undefined || state.principal === anonymous) return next();
    // A body of bytes has no digest before it is read, so a repeated request cannot be distinguished from a different one.
    if (bytes !== undefined) throw refusedKey(BYTES_TAKE_NO_KEY);
    if (onDemand !== undefined && acceptsType(headers.accept, onDemand)) throw refusedKey(STREAM_TAKES_NO_KEY);
    return name(state, String(key)).then((attempt) => {
      state.attempt = attempt;
      return next();
    });
  };
};
