import type { Context } from 'koa';

/** What is known about one request and its answer, besides Koa's own context. */
export type Exchange = {
  readonly requestId: string;
  /** `unrouted` until a route has been found. */
  operationId: string;
  /** The raw path as it was asked for, still escaped. */
  readonly path: string;
  /** The text after the `?`; undefined without one. */
  readonly query: string | undefined;
  /** Sent with the answer, whatever it is. */
  readonly headers: Record<string, string>;
  /** From the metrics, to time the request. */
  readonly begun: number;
};

/** The router passes nothing but the context along, so it carries the exchange. */
export const attachExchange = (ctx: Context, exchange: Exchange): void => {
  ctx.state['exchange'] = exchange;
};
export const exchangeOf = (ctx: Context): Exchange => ctx.state['exchange'] as Exchange;
