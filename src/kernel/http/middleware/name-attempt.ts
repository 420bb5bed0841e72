import { Rejection } from '../../base/rejection.js';
import { anonymous } from '../guard/admit.js';
import { repeatable } from '../guard/idempotency.js';
import { PLAYER_HEADER } from '../headers.js';
import type { KeyedRequest } from '../../../ports/idempotency-store.js';
import type { RequestMiddleware, RequestState } from '../request-state.js';
import type { RouteDefinition } from '../route.js';
import { acceptsType, onDemandOf } from './check-request.js';

const BYTES_TAKE_NO_KEY =
  'This route does not accept an Idempotency-Key. Without it, you can safely send the same bytes again.';
const STREAM_TAKES_NO_KEY =
  'A streamed response cannot be replayed. Send either the Idempotency-Key or this Accept header, not both.';

const playerHeader = PLAYER_HEADER.toLowerCase();

/** Whose keys they are: those of players are not their issuer's. */
const callerOf = ({ keyId, player }: RequestState['principal']): readonly string[] =>
  player === undefined ? [keyId] : [keyId, 'player', player.id];

const refusedKey = (message: string): Rejection =>
  new Rejection('HEADER_INVALID', { message, details: { header: 'Idempotency-Key' } });

/**
 * Identifies a request under its Idempotency-Key by the body as it was sent, and by the player whom a header names.
 * @throws Rejection HEADER_INVALID
 */
export const nameAttempt = (definition: RouteDefinition): RequestMiddleware => {
  const { method, path, bytes, reads } = definition;
  const readsPlayer = reads?.includes(PLAYER_HEADER) === true;
  const onDemand = onDemandOf(definition);
  const name = async (
    { principal, params, json }: RequestState,
    key: string,
    player: string | undefined,
  ): Promise<KeyedRequest> => {
    const route = [...callerOf(principal), method, path, ...Object.values(params)];
    return repeatable(key, principal.tenant, route, json.value, player);
  };
  return (ctx, next) => {
    const { state } = ctx;
    const { headers } = ctx.req;
    const key = headers['idempotency-key'];
    if (key === undefined || state.principal === anonymous) return next();
    // A body of bytes has no digest before it is read, so a repeated request cannot be distinguished from a different one.
    if (bytes !== undefined) throw refusedKey(BYTES_TAKE_NO_KEY);
    if (onDemand !== undefined && acceptsType(headers.accept, onDemand)) throw refusedKey(STREAM_TAKES_NO_KEY);
    const player = readsPlayer ? headers[playerHeader] : undefined;
    return name(state, String(key), player === undefined ? undefined : String(player)).then((attempt) => {
      state.attempt = attempt;
      return next();
    });
  };
};
