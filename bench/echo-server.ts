import type { AddressInfo } from 'node:net';

import Koa from 'koa';

/**
 * The reference for all measurements over HTTP: the least that a JSON service on Koa does. It reads the body, parses it, and replies with it as JSON.
 * No routes, no checks, nothing stored.
 */
const app = new Koa();

app.use(async (context) => {
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    context.req
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks).toString()))
      .on('error', reject);
  });
  context.body = JSON.parse(text) as object;
});

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'serving', url: `http://127.0.0.1:${port}` }));
});
