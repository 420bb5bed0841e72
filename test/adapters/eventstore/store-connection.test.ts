import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { EventStoreDBClient } from '@eventstore/db-client';
import { parseConnectionString } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { READ_SILENCE_MS, StoreConnection } from '../../../src/adapters/eventstore/store-connection.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { likeOf } from '../../stand-in/like.js';
import { Log } from '../../stand-in/log.js';
import { serve } from '../../stand-in/server.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

describe('An address that the EventStoreDB client rejects', () => {
  it.each([
    ['esdb://anima:hush@store.example:2113?tls=true&tlsCAFile=/none/ca.pem', /File was not found/],
    ['esdb://anima:hush@store.example:2113?tls=maybe', /not an EventStoreDB connection string/],
    ['esdb://anima:hush', /not an EventStoreDB connection string/],
    ['esdb://anima:hush%@store.example:2113', /not an EventStoreDB connection string/],
  ])('is reported at startup with its setting and without the password: %s', (url, reason) => {
    const open = () => new StoreConnection(url);
    expect(open).toThrow(StartProblem);
    expect(open).toThrow(/^EVENTSTORE_URL cannot be used: /);
    expect(open).toThrow(reason);
    expect(open).not.toThrow(/hush/);
  });
});

describe('An address with several nodes', () => {
  const parsed = (url: string) => {
    try {
      return parseConnectionString(url);
    } catch {
      return null;
    }
  };

  it.each([
    'esdb+discover://cluster.local/',
    'esdb://a,b/',
    'esdb+discover://admin:pa?ss@cluster',
    'esdb://a:1,b:2?tls=false/',
    ' esdb+discover://a',
    'esdb://a:1,b:2/?tls=false&gossip_timeout=10',
    'esdb://admin:hush@a:1,b:2?',
    'esdb://admin:hush@a:1,b:2?tls',
    'esdb://admin:hush@a:1,b:2?tls=false&tlsVerifyCert',
    'esdb+discover://admin:hush@a?nodePreference',
    'esdb://a:1,b:2?tls=false& gossipTimeout=10',
    'esdb://a:1,b:2/?gossipTimeout = 7&tls=false',
    'esdb://admin:hush@a:1,b:2?tls=false&',
  ])('is parsed as the client parses it: %s', (url) => {
    const given = vi.spyOn(EventStoreDBClient, 'connectionString');
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const before = parsed(url);
    const open = () => new StoreConnection(url);
    if (before === null) expect(open).toThrow(StartProblem);
    else open();
    const [now = ''] = given.mock.lastCall ?? [];
    expect(parsed(String(now))).toEqual(before === null ? null : { gossipTimeout: 1, ...before });
    expect(warned).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});

describe('A node that seems silent', () => {
  const opened: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const end of opened.splice(0).reverse()) await end();
  });

  /** A node that accepts connections and never answers. */
  const frozenNode = async (): Promise<number> => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const wellNode = async (): Promise<number> => {
    const directory = await temporaryDirectory();
    const log = Log.open(directory.path);
    const { server, port } = await serve(log, likeOf('eventstoredb-23.10'), 0, () => ({}));
    opened.push(async () => {
      server.forceShutdown();
      log[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    });
    return port;
  };
  const connectTo = (...ports: readonly number[]): StoreConnection => {
    const connection = new StoreConnection(
      `esdb://${ports.map((port) => `127.0.0.1:${String(port)}`).join(',')}?tls=false`,
    );
    opened.push(() => connection[Symbol.asyncDispose]());
    return connection;
  };
  const ask = async (connection: StoreConnection): Promise<void> => {
    for await (const _ of connection.client.readAll({ maxCount: 1 })) return;
  };

  it('is kept while the client is still looking for a node', async () => {
    const connection = connectTo(await frozenNode(), await frozenNode());
    const { node } = connection;
    void ask(connection).catch(() => undefined);
    await new Promise(setImmediate);
    await connection.leaveSilentNode();
    expect(node.aborted).toBe(false);
  });

  it('is left only after it had time to answer', async () => {
    const connection = connectTo(await wellNode(), await wellNode());
    const { node } = connection;
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    await ask(connection);
    now.mockReturnValue(1_000 + READ_SILENCE_MS - 1);
    await connection.leaveSilentNode();
    expect(node.aborted).toBe(false);
    now.mockReturnValue(1_000 + READ_SILENCE_MS);
    await connection.leaveSilentNode();
    expect(node.aborted).toBe(true);
    await ask(connection);
  });
});
