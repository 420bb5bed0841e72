import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LoopbackRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};
export type LoopbackServer = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly seen: readonly LoopbackRequest[];
  /** How requests are answered from now on. */
  answer(how: (request: LoopbackRequest, response: ServerResponse) => void): void;
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** An HTTP server on a free loopback port, which answers 404 until its answer is set. */
export const openLoopbackServer = async (): Promise<LoopbackServer> => {
  const seen: LoopbackRequest[] = [];
  let answer: (request: LoopbackRequest, response: ServerResponse) => void = (_, response) =>
    response.writeHead(404).end();
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      const read = { method, path, headers, body };
      seen.push(read);
      answer(read, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${String(port)}`,
    seen,
    answer: (how) => void (answer = how),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
