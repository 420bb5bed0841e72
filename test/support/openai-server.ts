import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * How the server treats the next requests. `slow` answers later than any test waits; `silent` accepts and
 * never answers; `slam` closes the connection immediately; `half` sends half of a JSON text and cuts the connection;
 * `trickle` sends a byte now and then and never ends; `almost` sends a complete response except for its last byte, and then nothing. An `answer` may wait
 * for
 * something. A `reply` is computed from the request's body, after this many milliseconds.
 */
export type Behaviour =
  | { readonly kind: 'answer'; readonly text: string; readonly after?: Promise<void> }
  | { readonly kind: 'reply'; readonly to: (body: unknown) => string; readonly ms?: number }
  | { readonly kind: 'almost'; readonly text: string }
  | {
      readonly kind: 'raw';
      readonly status: number;
      readonly contentType: string;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'half' | 'silent' | 'slam' | 'slow' | 'trickle' };

export type SeenRequest = { readonly path: string; readonly authorization: string | undefined; readonly body: unknown };

export type OpenAiServer = AsyncDisposable & {
  /** The base URL for a client, including `/v1`. */
  readonly url: string;
  readonly seen: SeenRequest[];
  /** The next requests are treated in this order; the last one repeats. */
  behave(...behaviours: readonly [Behaviour, ...Behaviour[]]): void;
  /** From now on its list of models holds this. */
  lists(model: object): void;
  /** The number of open connections. */
  openConnections(): number;
  /** Resolves when no connection is open. */
  quiet(): Promise<void>;
};

const SLOW_MS = 3_600_000;
const TRICKLE_MS = 20;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

const completion = (path: string, text: string): string =>
  JSON.stringify({
    id: 'cmpl-1',
    object: path.endsWith('/chat/completions') ? 'chat.completion' : 'text_completion',
    choices: [
      path.endsWith('/chat/completions')
        ? { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }
        : { index: 0, text, finish_reason: 'stop' },
    ],
  });

const send = (
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  // Every response closes its connection: an open one was left by a client.
  response.writeHead(status, { 'content-type': contentType, connection: 'close', ...headers });
  response.end(body);
};

const answer = (behaviour: Behaviour, { path, body }: SeenRequest, response: ServerResponse): void => {
  const whole = completion(path, 'A whole answer, if only it arrived.');
  switch (behaviour.kind) {
    case 'answer':
      void (behaviour.after ?? Promise.resolve()).then(() => {
        send(response, 200, 'application/json', completion(path, behaviour.text));
      });
      return;
    case 'reply':
      setTimeout(
        () => send(response, 200, 'application/json', completion(path, behaviour.to(body))),
        behaviour.ms ?? 0,
      );
      return;
    case 'almost': {
      const answered = Buffer.from(completion(path, behaviour.text));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(answered.length) });
      response.write(answered.subarray(0, -1));
      return;
    }
    case 'raw':
      send(response, behaviour.status, behaviour.contentType, behaviour.body, behaviour.headers);
      return;
    case 'half':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(whole.length) });
      response.write(whole.slice(0, whole.length / 2), () => response.destroy());
      return;
    case 'slow': {
      const timer = setTimeout(() => {
        send(response, 200, 'application/json', whole);
      }, SLOW_MS);
      response.on('close', () => {
        clearTimeout(timer);
      });
      return;
    }
    case 'trickle': {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), TRICKLE_MS);
      response.on('close', () => {
        clearInterval(timer);
      });
      return;
    }
    case 'slam':
    case 'silent':
      return;
  }
};

/** Starts a small OpenAI-compatible server on a free loopback port. */
export const startOpenAiServer = async (): Promise<OpenAiServer> => {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let behaviours: readonly [Behaviour, ...Behaviour[]] = [{ kind: 'answer', text: 'Well met.' }];
  const next = (): Behaviour => {
    const [first, second, ...rest] = behaviours;
    if (second !== undefined) behaviours = [second, ...rest];
    return first;
  };
  let listed: object | null = null;
  let onQuiet: () => void = () => undefined;

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET') {
      const list = { object: 'list', data: listed === null ? [] : [listed] };
      send(response, listed === null ? 404 : 200, 'application/json', JSON.stringify(list));
      return;
    }
    bodyOf(request)
      .then((body) => {
        const asked = { path, authorization: request.headers.authorization, body: JSON.parse(body) as unknown };
        seen.push(asked);
        answer(next(), asked, response);
      })
      .catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) onQuiet();
    });
    if (behaviours[0].kind === 'slam') {
      next();
      socket.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`,
    seen,
    behave: (...wanted) => {
      behaviours = wanted;
    },
    lists: (model) => {
      listed = model;
    },
    openConnections: () => sockets.size,
    quiet: () =>
      new Promise((resolve) => {
        if (sockets.size === 0) resolve();
        else onQuiet = resolve;
      }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
};
