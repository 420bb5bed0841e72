import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, it } from 'vitest';

import { createCheckpointReceiver } from '../../../src/adapters/archives/checkpoint-receiver.js';
import { systemResolve } from '../../../src/adapters/archives/checked-get.js';
import { nameCount } from '../../../src/features/proofs/domain/origin.js';
import { systemClock } from '../../../src/adapters/system/clock.js';

const signal = new AbortController().signal;
const NOTE = 'minds.example/audit/local\n1\n\n— note\n';
const deps = { clock: systemClock, resolve: systemResolve, log: { warn: () => undefined } };

/** A receiver that always answers with the same status. */
const answering = async (status: number) => {
  const seen: string[] = [];
  const server: Server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
    req.on('end', () => {
      seen.push(`${req.method ?? ''} ${req.url ?? ''} ${req.headers['content-type'] ?? ''} ${body}`);
      res.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere' }).end('taken');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/log`,
    seen,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
};

describe('a receiver of checkpoints', () => {
  it('gets the note as text by POST [10.5i]', async () => {
    await using server = await answering(204);
    await createCheckpointReceiver(server.url, deps).handOn(NOTE, signal);
    expect(server.seen).toEqual([`POST /log text/plain; charset=utf-8 ${NOTE}`]);
  });

  it.each([302, 400, 500])(
    'counts as failed when it answers %i, and its redirects are not followed',
    async (status) => {
      await using server = await answering(status);
      await expect(createCheckpointReceiver(server.url, deps).handOn(NOTE, signal)).rejects.toThrow(
        `HTTP ${String(status)}`,
      );
      expect(server.seen).toHaveLength(1);
    },
  );

  it('is not contacted at an address that cannot be a server', async () => {
    const receiver = createCheckpointReceiver('http://metadata.example/log', {
      ...deps,
      resolve: () => Promise.resolve(['169.254.169.254']),
    });
    await expect(receiver.handOn(NOTE, signal)).rejects.toThrow('metadata.example');
  });

  it('can be a file, which gets one line per checkpoint [10.5i]', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'anima-receiver-')), 'notes');
    const receiver = createCheckpointReceiver(pathToFileURL(file).href, deps);
    await receiver.handOn(NOTE, signal);
    await receiver.handOn(NOTE, signal);
    expect(await readFile(file, 'utf8')).toBe(`${JSON.stringify({ note: NOTE })}\n`.repeat(2));
  });

  it('tells the newest checkpoint that a file keeps of each log, and counts and reports what it did not accept [10.5i, 10.5u]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'anima-receiver-'));
    const file = join(folder, 'notes');
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string): void => void warnings.push(message) };
    const receiver = createCheckpointReceiver(pathToFileURL(file).href, { ...deps, log });
    const note = (origin: string, size: number, root = 'abcd'): string => `${origin}\n${String(size)}\n${root}\n`;
    const keptOf = (origin: string) => receiver.lastKept(nameCount(origin));
    expect(await keptOf('a.example/audit/x')).toBe('missing');
    await receiver.handOn(note('a.example/audit/x', 7), signal);
    await receiver.handOn(note('a.example/audit/z', 9), signal);
    await receiver.handOn(note('a.example/audit/z', 9, 'ABCD'), signal);
    await receiver.handOn(note('a.example/audit/z/2', 4), signal);
    await receiver.handOn(note('a.example/audit/z/2', 3), signal);
    // More than one block of other notes, and a line that was cut off.
    await appendFile(file, `${JSON.stringify({ note: note('b.example/audit/y', 1) })}\n`.repeat(9_000));
    await appendFile(file, '{"note":"a.exam');
    const root = Buffer.from('abcd', 'base64').toString('hex');
    expect(await keptOf('a.example/audit/x')).toEqual({ origin: 'a.example/audit/x', size: 7, root });
    // It was continued under another name; the note before was sent again.
    for (const origin of ['a.example/audit/z', 'a.example/audit/z/2', 'a.example/audit/z/3'])
      expect(await keptOf(origin)).toEqual({ origin: 'a.example/audit/z/2', size: 4, root });
    expect(await keptOf('b.example/audit/y')).toMatchObject({ size: 1 });
    expect(await keptOf('b.example/audit')).toBeNull();
    expect(warnings).toEqual([]);

    const nowhere = createCheckpointReceiver(pathToFileURL(join(folder, 'missing', 'notes')).href, { ...deps, log });
    await expect(nowhere.handOn(NOTE, signal)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(warnings).toHaveLength(1);
    const remote = createCheckpointReceiver('http://127.0.0.1:1/log', deps);
    expect(await remote.lastKept(nameCount('a.example/audit/x'))).toBeNull();
  });

  it('finds a note however many others follow, and says so if it cannot be read [10.5u]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'anima-receiver-'));
    const file = join(folder, 'notes');
    // A busy machine may take longer than a server waits.
    const patient = { ...deps, clock: { after: () => () => undefined } };
    const receiver = createCheckpointReceiver(pathToFileURL(file).href, patient);
    await receiver.handOn('a.example/audit/x\n7\nabcd\n', signal);
    await appendFile(file, `${'x'.repeat(2 * 1024 * 1024)}\n`);
    const other = `${JSON.stringify({ note: 'b.example/audit/y\n1\nabcd\n' })}\n`.repeat(100_000);
    for (let part = 0; part < 17; part += 1) await appendFile(file, other);
    expect((await stat(file)).size).toBeGreaterThan(64 * 1024 * 1024);
    expect(await receiver.lastKept(nameCount('a.example/audit/x'))).toMatchObject({ size: 7 });
    await rm(folder, { recursive: true });
    const asFolder = createCheckpointReceiver(pathToFileURL(join(tmpdir(), 'x'.repeat(300))).href, deps);
    await expect(asFolder.lastKept(nameCount('a.example/audit/x'))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  it('is not waited for when it is a pipe without a reader', async () => {
    const pipe = join(await mkdtemp(join(tmpdir(), 'anima-receiver-')), 'pipe');
    execFileSync('/usr/bin/env', ['mkfifo', pipe]);
    const receiver = createCheckpointReceiver(pathToFileURL(pipe).href, deps);
    await expect(receiver.handOn(NOTE, signal)).rejects.toMatchObject({ code: 'ENXIO' });
  });
});
