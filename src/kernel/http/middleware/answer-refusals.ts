import type { Clock } from '../../../ports/clock.js';
import type { Log } from '../../../ports/log.js';
import type { Random } from '../../../ports/random.js';
import { ClientGone } from '../guard/read-body.js';
import { throwAway } from '../guard/unread-body.js';
import { refusalOf, toRejection } from '../on-error.js';
import { respondJson } from '../respond.js';
import { noJson } from './name-request.js';
import { createRetryPacing } from '../retry-pacing.js';
import type { RequestMiddleware, RequestState } from '../request-state.js';

type RefusalDeps = { readonly clock: Clock; readonly random: Random; readonly logger: Log };

/** A request may be large, and its response may wait long for an earlier one on its connection. */
const forgetBody = (state: RequestState): void => {
  Object.assign(state, { json: noJson, call: undefined, answer: undefined });
};

/**
 * Turns what is thrown into a response: a refusal as it is, everything else as INTERNAL.
 * @param isShort whether an operation refuses in the short form of the specification
 */
export const answerRefusals = (deps: RefusalDeps, isShort: (operationId: string) => boolean): RequestMiddleware => {
  const pacing = createRetryPacing(deps);
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      if (thrown instanceof ClientGone) {
        ctx.respond = false;
        // The client may still be sending: it was refused outside Koa.
        await throwAway(ctx.req);
        ctx.res.destroy();
        return;
      }
      const { requestId, operationId: operation } = ctx.state;
      const rejection = toRejection(thrown, deps.logger, { requestId, operation });
      const { status, headers, body } = refusalOf(rejection, requestId, isShort(operation));
      ctx.set(headers);
      if (status === 503) {
        const seconds = Number(headers['Retry-After']);
        ctx.set('Retry-After', String(pacing.stretched(seconds, rejection.retrySpread)));
      }
      respondJson(ctx, status, body);
    }
    forgetBody(ctx.state);
    if (ctx.state.lingers !== null) await ctx.state.lingers;
  };
};
