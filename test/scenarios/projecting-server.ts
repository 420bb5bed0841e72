import { afterAll, beforeAll, expect, vi } from 'vitest';

import { type Api, patientApiOf } from '../support/api.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

/** A server for one suite, and a client for it; `again` after a restart, which changes its address. */
export type ProjectingServer = { server: ServerUnderTest; api: Api; again(): void };

/**
 * Opens a server before a suite and ends it afterwards. It waits until the read model of memories is current: a projector that has just started joins
 * its group first, which takes longer than a list waits.
 */
export const projectingServer = (open: OpenServer, env: Parameters<OpenServer>[0] = {}): ProjectingServer => {
  const opened = {
    again: (): void => {
      opened.api = patientApiOf(opened.server.url, opened.server.ownerKey);
    },
  } as ProjectingServer;
  beforeAll(async () => {
    opened.server = await open(env);
    opened.again();
    await untilProjecting(opened.api);
  });
  afterAll(async () => {
    await opened.server[Symbol.asyncDispose]();
  });
  return opened;
};

const untilProjecting = async (api: Api): Promise<void> => {
  // A server that has just started may lose its first response; the key makes a repeat harmless.
  const store = () => api.post('/npcs/first-one/memory', { text: 'It has begun.' }, { 'idempotency-key': 'first-one' });
  await vi.waitFor(
    async () => {
      const stored = await store();
      expect(stored.status, stored.text).toBe(200);
    },
    { timeout: 30_000, interval: 1_000 },
  );
  await vi.waitFor(async () => expect((await api.get('/npcs/first-one/memory')).body).toHaveLength(1), {
    timeout: 60_000,
    interval: 200,
  });
};
