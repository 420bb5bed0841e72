import type { ServerResponse } from 'node:http';

import { describe, expect, it } from 'vitest';

import { TEXT_TRIES } from '../../src/features/memory/embed-lacking.js';
import { EMBED_TEXTS } from '../../src/ports/embedder.js';
import { apiOf } from '../support/api.js';
import type { ServerUnderTest } from '../scenarios/server-under-test.js';
import { startBuilt } from '../support/child.js';
import { type EmbeddingsServer, reply, startEmbeddingsServer } from '../support/embeddings-server.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { typed } from './typed.js';

const TEXTS = 200;
/** More than a failing run asks for. */
const REFUSALS = 100;

const textsOf = ({ seen }: EmbeddingsServer): readonly string[] => seen.flatMap(({ body }) => body.input);
const envOf = (url: string, dataDir: string) => ({
  ANIMA_DATA_DIR: dataDir,
  ANIMA_EMBEDDER: url,
  ANIMA_EMBEDDER_MODEL: 'words',
});

/** Records one memory, waits until it is listed, and stops the server. */
const leaveOneText = async (server: ServerUnderTest): Promise<void> => {
  const api = apiOf(server.url, server.ownerKey);
  await api.post('/v1/agents/mira/memory', { text: 'one' });
  expect((await api.get('/npcs/mira/memory?limit=1')).body).toHaveLength(1);
  await server.halt();
};

describe('anima reembed', () => {
  it('continues after a kill, and embeds nothing twice except the batch in flight [11.5g]', async () => {
    await using embeddings = await startEmbeddingsServer();
    await using server = await openEmbeddedServer();
    const api = apiOf(server.url, server.ownerKey);
    let revision = '';
    for (let at = 0; at < TEXTS; at += 1) {
      const { status, headers } = await api.post('/v1/agents/mira/memory', { text: `memory ${String(at)}` });
      expect(status).toBe(201);
      revision = headers.get('anima-revision') ?? '';
    }
    expect((await api.get('/npcs/mira/memory?limit=1', { 'anima-min-revision': revision })).status).toBe(200);
    await server.halt();

    const env = envOf(embeddings.url, server.dataDir);
    // The second batch gets no response.
    const [first, second] = [embeddings.came(1), embeddings.came(2)];
    const killed = startBuilt('src/cli/anima.js', { args: ['reembed'], env });
    await first;
    embeddings.next.push(() => undefined);
    await second;
    await killed.kill();
    expect(textsOf(embeddings)).toHaveLength(2 * EMBED_TEXTS);

    const { code, stdout } = await typed(['reembed', '--json'], { env });
    expect([code, JSON.parse(stdout)]).toEqual([0, { embedder: 'api:words@1', embedded: TEXTS - EMBED_TEXTS }]);
    expect(textsOf(embeddings)).toHaveLength(TEXTS + EMBED_TEXTS);
    expect(new Set(textsOf(embeddings)).size).toBe(TEXTS);

    const again = await typed(['reembed'], { env });
    expect([again.code, again.stdout]).toEqual([0, 'Embedded 0 texts with api:words@1.\n']);
  });

  it('fails with one message when the embedder is down', async () => {
    await using server = await openEmbeddedServer();
    await leaveOneText(server);
    await using embeddings = await startEmbeddingsServer();
    // Each try asks for the text, and then for another one that shows whether the text is to blame.
    const refuse = (response: ServerResponse): void => void response.writeHead(400).end();
    embeddings.next.push(...Array.from({ length: REFUSALS }, () => refuse));
    const { code, stderr } = await typed(['reembed'], { env: envOf(embeddings.url, server.dataDir) });
    expect([code, stderr]).toEqual([1, 'The embedder that recall needs is unavailable. Try again shortly.\n']);
    expect(embeddings.next).not.toEqual([]);
  });

  it('prints how many texts it skipped', async () => {
    await using server = await openEmbeddedServer();
    await leaveOneText(server);
    await using embeddings = await startEmbeddingsServer();
    for (let tries = 0; tries < TEXT_TRIES; tries += 1) {
      embeddings.next.push((response) => void response.writeHead(400).end());
      embeddings.next.push((response) => reply(response, 200, { data: [{ index: 0, embedding: [1, 0] }] }));
    }
    const { code, stdout, stderr } = await typed(['reembed'], { env: envOf(embeddings.url, server.dataDir) });
    expect([code, stdout]).toEqual([0, 'Embedded 0 texts with api:words@1.\n']);
    expect(stderr).toBe('The embedder refused 1 text. Recall finds them only by their words.\n');
  });
});
