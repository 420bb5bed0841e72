import { END, EventStoreDBClient, BACKWARDS } from '@eventstore/db-client';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { identify } from '../../scripts/servers/processes.js';
import { runServers } from '../support/servers-command.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const sh = promisify(execFile);
let temporary: Awaited<ReturnType<typeof temporaryDirectory>>;
let directory = '';

beforeAll(async () => {
  temporary = await temporaryDirectory();
  directory = join(temporary.path, 'servers');
});
afterAll(async () => {
  await servers('reset');
  await temporary[Symbol.asyncDispose]();
});

const servers = (...args: readonly string[]) => runServers(args, { ANIMA_SERVERS_DIR: directory });

/** The value of a variable in `env`, as a shell reads it. */
const valueOf = async (variable: string): Promise<string> =>
  (await sh('sh', ['-ec', `. "$0"; printf %s "$${variable}"`, join(directory, 'env')])).stdout;
const databaseUrl = (): Promise<string> => valueOf('DATABASE_URL');

const ask = async (url: string, sql: string): Promise<readonly unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

const processOf = async (): Promise<number> => {
  const { stdout } = await servers('status', 'postgres');
  return Number(/process (\d+)/.exec(stdout)?.[1]);
};

describe('a server that is started natively', () => {
  let url = '';

  it('answers at the address in env, which a shell can read [11.6b]', async () => {
    expect(await servers('start', 'postgres')).toMatchObject({ code: 0 });
    url = await databaseUrl();
    await ask(url, 'CREATE TABLE kept (word text)');
    await ask(url, "INSERT INTO kept VALUES ('committed')");
    expect(await ask(url, 'SELECT word FROM kept')).toEqual([{ word: 'committed' }]);
  });

  it('is not restarted by another start', async () => {
    const before = await processOf();
    expect(await servers('start', 'postgres')).toMatchObject({ code: 0 });
    expect(await processOf()).toBe(before);
  });

  it('is dead after a kill, and comes back at the same address with what was committed [11.6c]', async () => {
    const before = await processOf();
    expect(await servers('kill', 'postgres')).toMatchObject({ code: 0 });
    expect((await servers('status', 'postgres')).stdout).toContain('postgres: dead');
    await expect(ask(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await servers('restart', 'postgres')).toMatchObject({ code: 0 });
    expect(await databaseUrl()).toBe(url);
    expect(await processOf()).not.toBe(before);
    expect(await ask(url, 'SELECT word FROM kept')).toEqual([{ word: 'committed' }]);
  });

  it('is gone after a stop, and so is env [11.6c]', async () => {
    const before = await processOf();
    expect(await servers('stop')).toMatchObject({ code: 0 });
    expect(await identify(before)).toBeUndefined();
    expect(existsSync(join(directory, 'env'))).toBe(false);
    await expect(ask(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('keeps its data over a stop and loses it in a reset [11.6c]', async () => {
    await servers('start', 'postgres');
    expect(await ask(await databaseUrl(), 'SELECT word FROM kept')).toEqual([{ word: 'committed' }]);
    expect(await servers('reset')).toMatchObject({ code: 0 });
    expect(existsSync(directory)).toBe(false);
    await servers('start', 'postgres');
    await expect(ask(await databaseUrl(), 'SELECT word FROM kept')).rejects.toThrow('does not exist');
  });
});

describe('an event store that other programs write to as well', () => {
  const lastOf = async (): Promise<unknown> => {
    const client = EventStoreDBClient.connectionString(await valueOf('EVENTSTORE_URL'));
    try {
      for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
        return [event?.streamId, Number(event?.revision)];
      return null;
    } finally {
      await client.dispose();
    }
  };

  it('begins with the given number of events, and keeps them [11.6d]', async () => {
    await servers('reset');
    expect(await servers('start', 'eventstore', '--foreign', '1010')).toMatchObject({ code: 0 });
    expect(await lastOf()).toEqual(['shop-order-50', 9]);
    expect(await servers('restart', 'eventstore')).toMatchObject({ code: 0 });
    expect(await lastOf()).toEqual(['shop-order-50', 9]);
  });

  it('accepts that number only when it is new, and only when the command starts it', async () => {
    const late = await servers('start', 'eventstore', '--foreign', '5');
    expect(late).toMatchObject({ code: 1 });
    expect(late.stdout).toContain('--foreign works only with a new event store');
    expect(await servers('start', 'postgres', '--foreign', '5')).toMatchObject({ code: 2 });
    expect(await servers('stop', '--foreign', '5')).toMatchObject({ code: 2 });
    expect(await servers('start', 'eventstore', '--foreign', 'many')).toMatchObject({ code: 2 });
    const given = { ANIMA_SERVERS_DIR: directory, EVENTSTORE_URL: 'esdb://127.0.0.1:9' };
    const elsewhere = await runServers(['start', 'eventstore', '--foreign', '5'], given);
    expect(elsewhere).toMatchObject({ code: 1 });
    expect(elsewhere.stdout).toContain('EVENTSTORE_URL');
  });
});
