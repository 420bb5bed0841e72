import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WordEmbedder } from './memory/word-embedder.js';

/** A request as received. */
export type EmbeddingsRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[] };
};

/** Answers one request without vectors. */
export type Misbehaviour = (response: ServerResponse, request: EmbeddingsRequest) => void;

export type EmbeddingsServer = AsyncDisposable & {
  readonly url: string;
  readonly seen: EmbeddingsRequest[];
  /** How the next requests are answered, one after the other; later ones get vectors. */
  readonly next: Misbehaviour[];
  /** Resolves when this many requests have arrived. */
  came(count: number): Promise<void>;
};

/** Vectors that count words, three times as long as they should be. */
const embeddings = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> => {
  await using words = new WordEmbedder();
  return (await words.embed(texts, { urgent: false })).map((vector) => [...(vector ?? [])].map((number) => 3 * number));
};

/** Sends this value as JSON. */
export const reply = (response: ServerResponse, status: number, value: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

/** An OpenAI-compatible server of embeddings on a free loopback port; it answers in another order than the request. */
export const startEmbeddingsServer = async (): Promise<EmbeddingsServer> => {
  const seen: EmbeddingsRequest[] = [];
  const next: Misbehaviour[] = [];
  const awaited: { readonly count: number; readonly resolve: () => void }[] = [];
  const onRequest = (): void => {
    for (const { count, resolve } of awaited) if (seen.length >= count) resolve();
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as EmbeddingsRequest['body'];
      const request = { path: incoming.url ?? '', headers: incoming.headers, body };
      seen.push(request);
      onRequest();
      const misbehave = next.shift();
      if (misbehave !== undefined) {
        misbehave(response, request);
        return;
      }
      const vectors = await embeddings(body.input);
      reply(response, 200, { data: vectors.map((embedding, index) => ({ index, embedding })).reverse() });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`,
    seen,
    next,
    came: (count) =>
      new Promise((resolve) => {
        awaited.push({ count, resolve });
        onRequest();
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
};
