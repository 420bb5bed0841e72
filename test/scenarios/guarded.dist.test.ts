import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { openCertificates } from '../support/certificates.js';
import type { Child } from '../support/child.js';
import { distEnv } from '../support/dist-env.js';
import { type Namespace, openNamespace, type ServingProcess } from '../support/distributed-server.js';
import { openGuardedServers, type OwnServers } from '../support/own-servers.js';
import { openTlsFront } from '../support/tls-front.js';
import { resultsOf } from '../support/writers.js';

const poll = { timeout: 60_000, interval: 200 };

/** The status of one server in /readyz of a role. */
const stateOf = async ({ url }: ServingProcess, server: string) => {
  const { status, body } = await apiOf(url, undefined).get('/readyz');
  const { dependencies } = body as { dependencies: Record<string, { ok: boolean; detail?: string }> };
  return { status, ok: dependencies[server]?.ok, detail: dependencies[server]?.detail ?? '' };
};
const linesOf = (child: Child, level: number): string =>
  child.lines.filter((line) => (JSON.parse(line) as { level: number }).level >= level).join('\n');

/** Kafka requires a password and Temporal a certificate, both over TLS, and Temporal gets no API key. */
describe('protected servers', () => {
  const payloadKey = randomBytes(32).toString('base64');
  let kafka: OwnServers;
  let certificates: Awaited<ReturnType<typeof openCertificates>>;
  let front: Awaited<ReturnType<typeof openTlsFront>>;
  let namespace: Namespace;
  let wrongPassword = '';

  beforeAll(async () => {
    [kafka, certificates] = await Promise.all([openGuardedServers('kafka'), openCertificates()]);
    const { authority, server, client, path } = certificates;
    front = await openTlsFront({ target: distEnv().TEMPORAL_ADDRESS, server, clientsOf: authority });
    await writeFile(join(path, 'payload-key'), payloadKey);
    wrongPassword = join(path, 'wrong-password');
    await writeFile(wrongPassword, 'of somebody else');
    namespace = await openNamespace({
      ...kafka.env,
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_TLS: 'on',
      TEMPORAL_TLS_CA_FILE: authority.certificate,
      TEMPORAL_TLS_CERT_FILE: client.certificate,
      TEMPORAL_TLS_KEY_FILE: client.key,
      TEMPORAL_PAYLOAD_KEY_FILE: join(path, 'payload-key'),
    });
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
    await certificates[Symbol.asyncDispose]();
    await kafka[Symbol.asyncDispose]();
  });

  it('carry a turn to its end and into the lists, and no secret is in a log', async () => {
    const debug = { LOG_LEVEL: 'debug' };
    const started = await Promise.all(
      ['http', 'worker', 'projector,relay'].map((roles) => namespace.start(roles, debug)),
    );
    const [http] = started;
    if (http === undefined) throw new Error('three processes were started');
    const api = apiOf(http.url, namespace.ownerKey);
    let tape: object = { observation: 'A stranger asks for a room.' };
    for (const lastResult of resultsOf('mira')) {
      const step = () =>
        api.post('/npcs/mira/process', { tape, lastResult }, { 'idempotency-key': lastResult?.type ?? 'first' });
      await expect.poll(async () => (await step()).status, poll).toBe(200);
      ({ tape } = (await step()).body as { tape: object });
    }
    const names = async () => ((await api.get('/npcs')).body as { npcId: string }[]).map(({ npcId }) => npcId);
    await expect.poll(names, poll).toEqual(['mira']);
    for (const each of started) expect((await stateOf(each, 'temporal')).status).toBe(200);
    const output = started.map(({ child }) => child.stdout + child.stderr).join('');
    expect(output).toContain('"msg":"serving"');
    expect(output).not.toContain(payloadKey);
    const password = await readFile(kafka.env['KAFKA_SASL_PASSWORD_FILE'] ?? '', 'utf8');
    expect(output).not.toContain(password);
    for (const { child } of started) {
      child.signal('SIGTERM');
      expect(await child.exited()).toEqual({ code: 0, signal: null });
    }
  });

  it('refuse a process without a certificate for Temporal: it serves what it can, and its log names the settings', async () => {
    const http = await namespace.start('http', { TEMPORAL_TLS_CA_FILE: certificates.other.certificate });
    // On a busy machine the refusal may come too late for one call; a caller that waits for a process calls again, and then it is logged.
    await expect
      .poll(() => stateOf(http, 'temporal'), poll)
      .toMatchObject({
        status: 200,
        ok: false,
        detail: expect.stringMatching(/^Check TEMPORAL_ADDRESS, .*TEMPORAL_TLS_CA_FILE/) as string,
      });
    await http.child.waitForLine(/Check TEMPORAL_ADDRESS, .*TEMPORAL_TLS_CA_FILE.*certificate/);
    const tape = { observation: 'Is anybody there?' };
    const reply = await apiOf(http.url, namespace.ownerKey).post('/npcs/nobody/process', { tape });
    expect([reply.status, reply.body.error.code]).toEqual([503, 'ENGINE_UNAVAILABLE']);
    await http.child.kill();
  });

  it('refuse a worker with a foreign certificate', async () => {
    const { stranger } = certificates;
    const shown = { TEMPORAL_TLS_CERT_FILE: stranger.certificate, TEMPORAL_TLS_KEY_FILE: stranger.key };
    const worker = await namespace.start('worker', shown);
    await worker.child.waitForLine(/The worker lost the connection to Temporal/);
    const named = 'TEMPORAL_TLS_CERT_FILE, TEMPORAL_TLS_KEY_FILE';
    expect(linesOf(worker.child, 40)).toContain(named);
    await expect.poll(() => stateOf(worker, 'temporal'), poll).toMatchObject({ status: 503, ok: false });
    expect((await stateOf(worker, 'temporal')).detail).toContain(named);
    await worker.child.kill();
  });

  it('refuse a projector and a relay with a wrong password', async () => {
    const feeds = await namespace.start('projector,relay', { KAFKA_SASL_PASSWORD_FILE: wrongPassword });
    const named = 'check KAFKA_BROKERS, KAFKA_TLS*, KAFKA_SASL*';
    await feeds.child.waitForLine(/The relay was interrupted/);
    await feeds.child.waitForLine(/Lost the event feed/);
    for (const line of feeds.child.lines.filter((each) => /interrupted|was lost/.test(each)))
      expect(line).toContain(named);
    const state = await stateOf(feeds, 'kafka');
    expect(state).toMatchObject({ status: 503, ok: false });
    expect(state.detail).toContain(named);
    expect(feeds.child.stdout).not.toContain('of somebody else');
    await feeds.child.kill();
  });

  it('are not contacted when settings are incomplete: all of them are named', async () => {
    const child = namespace.launch('http', {
      TEMPORAL_TLS_KEY_FILE: '',
      TEMPORAL_PAYLOAD_KEY: 'too short',
      KAFKA_SASL_USERNAME: '',
    });
    expect((await child.exited()).code).toBe(1);
    for (const name of ['TEMPORAL_TLS_KEY_FILE', 'TEMPORAL_PAYLOAD_KEY', 'KAFKA_SASL_USERNAME']) {
      expect(child.stderr).toContain(name);
    }
    expect(child.stderr).not.toContain('too short');
  });
});
