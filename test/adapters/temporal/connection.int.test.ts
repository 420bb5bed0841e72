import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { openConnection, openNativeConnection } from '../../../src/adapters/temporal/connection.js';
import { registerSearchAttributes, type TemporalAddress } from '../../../src/adapters/temporal/names.js';
import { TEMPORAL_SETTINGS, refusedByTemporal } from '../../../src/adapters/temporal/refusal.js';
import { installRuntime } from '../../../src/adapters/temporal/worker.js';
import type { TlsAccess } from '../../../src/ports/server-access.js';
import { openBareTemporal } from '../../support/bare-temporal.js';
import { openCertificates, tlsAccessOf } from '../../support/certificates.js';
import { quiet } from '../../support/temporal.js';
import { openTlsFront, type TlsFrontOptions } from '../../support/tls-front.js';

/** The time limit of a call, in milliseconds. */
const CALL_MS = 5_000;

type At = Pick<TemporalAddress, 'address' | 'tls' | 'apiKey'>;

/** Calls a server as the role http does and as a worker does. */
const asClient = async (at: At): Promise<void> => {
  const connection = openConnection(at);
  try {
    await connection.withDeadline(Date.now() + CALL_MS, () => connection.workflowService.getSystemInfo({}));
  } catch (error) {
    refusedByTemporal(error);
  } finally {
    await connection.close();
  }
};
const asWorker = async (at: At): Promise<void> => (await openNativeConnection(at)).close();
/** The failure itself, then every setting that may be wrong. */
const named = (said = '.'): RegExp => new RegExp(`(?:${said})[^]* Check ${TEMPORAL_SETTINGS}, `);
const both = [
  ['a client', asClient],
  ['a worker', asWorker],
] as const;

describe.each(both)('%s of a Temporal that uses TLS', (_, ask) => {
  let certificates: Awaited<ReturnType<typeof openCertificates>>;
  const opened: AsyncDisposable[] = [];
  beforeAll(async () => {
    installRuntime(quiet);
    certificates = await openCertificates();
  });
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await certificates[Symbol.asyncDispose]();
  });

  /** A server with TLS, and how it is called. */
  const open = async (front: Partial<TlsFrontOptions> = {}, key: string | null = null) => {
    const bare = await openBareTemporal({ apiKey: key });
    opened.push(bare);
    const tls = await openTlsFront({ target: bare.address, server: certificates.server, clientsOf: null, ...front });
    opened.push(tls);
    return {
      bare,
      ask: (access: TlsAccess | null, apiKey: string | null = null) =>
        ask({ address: tls.address, tls: access, apiKey }),
    };
  };

  it('connects when it trusts the authority of the server, and sends no identity without a key', async () => {
    const temporal = await open();
    await temporal.ask(await tlsAccessOf(certificates.authority));
    expect(temporal.bare.authorizations.length).toBeGreaterThan(0);
    expect(new Set(temporal.bare.authorizations)).toEqual(new Set([undefined]));
  });

  it('explains the failure and names the settings when it does not trust the server', async () => {
    const temporal = await open();
    const trusting = [await tlsAccessOf(certificates.other), await tlsAccessOf(null)];
    for (const tls of trusting) await expect(temporal.ask(tls)).rejects.toThrow(named('certificate|UnknownIssuer'));
    expect(temporal.bare.authorizations).toEqual([]);
  });

  it('connects to a server with another name only if that name is configured', async () => {
    const temporal = await open({ server: certificates.elsewhere });
    const { authority } = certificates;
    await expect(temporal.ask(await tlsAccessOf(authority))).rejects.toThrow(
      named('not match certificate|NotValidForName'),
    );
    await temporal.ask(await tlsAccessOf(authority, null, 'temporal.studio.example'));
  });

  it('sends its certificate to a server that requires one, and names the settings when it is not trusted', async () => {
    const temporal = await open({ clientsOf: certificates.authority });
    const { authority, client, stranger } = certificates;
    await temporal.ask(await tlsAccessOf(authority, client));
    for (const shown of [null, stranger]) {
      await expect(temporal.ask(await tlsAccessOf(authority, shown))).rejects.toThrow(named());
    }
  });

  it('names the settings when only one side uses TLS', async () => {
    const temporal = await open();
    await expect(temporal.ask(null)).rejects.toThrow(named());
    const tls = await tlsAccessOf(certificates.authority);
    await expect(ask({ address: temporal.bare.address, tls })).rejects.toThrow(named());
  });

  it('sends its API key, and names the settings when the server rejects it', async () => {
    const temporal = await open({}, 'tmprl-key');
    const tls = await tlsAccessOf(certificates.authority);
    await temporal.ask(tls, 'tmprl-key');
    expect(new Set(temporal.bare.authorizations)).toEqual(new Set(['Bearer tmprl-key']));
    const refusal = await temporal.ask(tls, 'another-key').catch((error: unknown) => String(error));
    expect(refusal).toMatch(named('credentials|UNAUTHENTICATED'));
    expect(refusal).not.toContain('another-key');
    await expect(temporal.ask(tls)).rejects.toThrow(named('credentials|UNAUTHENTICATED'));
  });

  it('names the address among the settings when nothing listens there', async () => {
    const temporal = await open();
    const tls = await tlsAccessOf(certificates.authority);
    for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
    await expect(temporal.ask(tls)).rejects.toThrow(named('ECONNREFUSED|Connection refused|ConnectionRefused'));
  });
});

describe('a Temporal that forbids creating search attributes', () => {
  it('gets a message that lists the attributes to create', async () => {
    await using bare = await openBareTemporal({ apiKey: 'of an operator' });
    const connection = openConnection(bare);
    await expect(registerSearchAttributes(connection, 'minds.a1b2c')).rejects.toThrow(
      'The namespace minds.a1b2c lacks the search attributes AnimaTenant, AnimaNpcId, AnimaProcess (Keyword): ',
    );
    await connection.close();
  });
});
