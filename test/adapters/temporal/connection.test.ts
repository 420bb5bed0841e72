import { rootCertificates } from 'node:tls';

import { expect, it } from 'vitest';

import { tlsOf } from '../../../src/adapters/temporal/connection.js';

it('Clients and workers trust the authorities that Node ships by default, or only the configured ones', () => {
  const trusted = (ca: string | null) =>
    tlsOf({ ca, client: null, serverName: null }).serverRootCACertificate.toString();
  expect(rootCertificates.length).toBeGreaterThan(0);
  for (const certificate of rootCertificates) expect(trusted(null)).toContain(certificate);
  expect(trusted('our own')).toBe('our own');
});
