import { recordedScopes } from '../base/scopes.js';
import type { Written } from '../read-models/written.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Random } from '../../ports/random.js';
import type { Gate } from './guard/admit.js';
import { DEFAULT_BODY_LIMIT } from './guard/read-body.js';
import type { Lifecycle } from './lifecycle.js';
import { authenticate } from './middleware/authenticate.js';
import { beginRoute } from './middleware/begin-route.js';
import { checkRequest, readTarget } from './middleware/check-request.js';
import { enterRoute } from './middleware/enter-route.js';
import { noteAccess, type OnAccess } from './middleware/note-access.js';
import { nameAttempt } from './middleware/name-attempt.js';
import { permitLargeBody } from './middleware/permit-large-body.js';
import { handle, reply, sendAnswer } from './middleware/reply.js';
import { type Reserving, runOnce } from './middleware/run-once.js';
import { takeBody } from './middleware/take-body.js';
import type { RequestMiddleware } from './request-state.js';
import { isRepeatable, type RouteDefinition } from './route.js';
import { requireSound } from './route-rules.js';

export type RouteDeps = {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Null while the ports are not open: only routes without a key respond then. */
  readonly keys: (Gate & Reserving & { readonly written: Written; readonly onAccess?: OnAccess | undefined }) | null;
};

/**
 * The middleware of one route, in the order of refusals: 401, 429, 403, 413, 415, 400, then those of the handler. The router answers 404 and 405.
 * @throws Error for a definition that cannot work
 */
export const routeMiddleware = (definition: RouteDefinition, deps: RouteDeps): readonly RequestMiddleware[] => {
  requireSound(definition);
  const { lifecycle, clock, random, log, keys } = deps;
  const { enter, bodyLimit = DEFAULT_BODY_LIMIT } = definition;
  const send = sendAnswer(definition, { lifecycle, clock, log });
  const mayRepeat = isRepeatable(definition);
  return [
    beginRoute(definition, lifecycle),
    authenticate(definition, keys),
    ...(keys?.onAccess !== undefined && recordedScopes.has(definition.scope)
      ? [noteAccess(definition, keys.onAccess)]
      : []),
    ...(bodyLimit > DEFAULT_BODY_LIMIT ? [permitLargeBody()] : []),
    takeBody(definition),
    readTarget(definition),
    ...(mayRepeat ? [nameAttempt(definition)] : []),
    checkRequest(definition, { clock, random, written: keys?.written ?? null }),
    ...(enter === undefined ? [] : [enterRoute({ ...definition, enter }, keys?.idempotency ?? null, send)]),
    reply(send),
    ...(mayRepeat && keys !== null ? [runOnce(definition, keys, log)] : []),
    handle(definition),
  ];
};
