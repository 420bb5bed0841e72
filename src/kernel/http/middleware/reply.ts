import { respond, respondJson } from '../respond.js';
import type { RequestContext, RequestMiddleware } from '../request-state.js';
import type { Answer, RouteDefinition, StreamedAnswer } from '../route.js';
import { respondStream, type StreamDeps } from '../stream-body.js';
import { addHeaders } from '../warning.js';

/** Calls the handler of a route. */
export const handle =
  ({ handler }: RouteDefinition): RequestMiddleware =>
  async ({ state }) => {
    const result = handler(state.call as never);
    const answer = result instanceof Promise ? await result : result;
    if (answer.position !== undefined) state.call.noteWritten(answer.position);
    const { revision = -1 } = answer;
    state.answer =
      revision < 0 ? answer : { ...answer, headers: { 'Anima-Revision': String(revision), ...answer.headers } };
  };

export type Send = (ctx: RequestContext, answer: Answer) => Promise<void> | undefined;

/** Passes the response of a route to Koa. @throws Error if it is a stream and the definition does not declare one */
export const sendAnswer = (definition: RouteDefinition, deps: StreamDeps): Send => {
  const stream = (ctx: RequestContext, status: number, answer: StreamedAnswer): Promise<void> => {
    const { stream: always, onDemand } = definition.responses[status] ?? {};
    const kind = always ?? (onDemand === undefined ? undefined : 'finite');
    if (kind === undefined) throw new Error(`${definition.operationId} does not say that it streams ${String(status)}`);
    return respondStream(ctx, status, answer, kind, deps);
  };
  return (ctx, { status = 200, headers, body, raw, stream: streamed }) => {
    if (headers !== undefined) addHeaders(ctx, headers);
    if (streamed !== undefined) return stream(ctx, status, streamed);
    if (raw === undefined) respondJson(ctx, status, body);
    else respond(ctx, status, raw.type, raw.content);
    return undefined;
  };
};

/** Sends the response of the next middleware. */
export const reply =
  (send: Send): RequestMiddleware =>
  async (ctx, next) => {
    await next();
    return send(ctx, ctx.state.answer);
  };
