import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import type { Json } from '../../src/kernel/base/json.js';

/** A request of a body. */
export type Request = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Json;
  readonly key?: string;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // The caller checks the received value.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Lets an HTTP application answer a request without a connected socket. */
export const answerTo = (handler: Handler, { method, path, body, key }: Request): Promise<Reply> =>
  new Promise((resolve) => {
    const content = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const message = new IncomingMessage(new Socket());
    message.httpVersion = '1.1';
    Object.assign(message, { method, url: path });
    message.headers = {
      host: 'simulation',
      authorization: 'Bearer simulated',
      ...(content === null ? {} : { 'content-type': 'application/json', 'content-length': String(content.length) }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    if (content !== null) message.push(content);
    message.push(null);
    message.complete = true;
    const response = new ServerResponse(message);
    const end = (text?: string): ServerResponse => {
      resolve({
        status: response.statusCode,
        headers: response.getHeaders() as Record<string, string>,
        body: text === undefined ? undefined : (JSON.parse(text) as Json),
      });
      response.emit('close');
      return response;
    };
    Object.assign(response, { end });
    handler(message, response);
  });
