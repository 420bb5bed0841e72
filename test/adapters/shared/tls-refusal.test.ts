import { describe, expect, it } from 'vitest';

import { tlsRefusalIn } from '../../../src/adapters/shared/tls-refusal.js';

/** As OpenSSL, Node and rustls write them. */
describe('a message about TLS', () => {
  it.each([
    ['untrusted', 'self-signed certificate in certificate chain'],
    ['untrusted', 'unable to get local issuer certificate'],
    ['untrusted', 'unable to verify the first certificate'],
    ['untrusted', 'ConnectError(Custom { kind: InvalidData, error: InvalidCertificate(UnknownIssuer) })'],
    ['untrusted', 'invalid peer certificate: UnknownIssuer'],
    ['untrusted', 'tonic::transport::Error(Transport, NativeCertsNotFound)'],
    ['otherName', "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1 is not in the cert's list: "],
    ['otherName', 'InvalidCertificate(NotValidForNameContext { expected: DnsName("localhost"), presented: [] })'],
    ['expired', 'certificate has expired'],
    ['expired', 'InvalidCertificate(ExpiredContext { time: UnixTime(1), not_after: UnixTime(0) })'],
    ['clientCertificate', 'ssl3_read_bytes:tlsv13 alert certificate required:rec_layer_s3.c:1601:SSL alert number 116'],
    ['clientCertificate', 'ssl3_read_bytes:tlsv1 alert unknown ca:rec_layer_s3.c:1601:SSL alert number 48'],
    ['clientCertificate', 'Custom { kind: InvalidData, error: AlertReceived(CertificateRequired) }'],
    ['noTls', 'error:0A00010B:SSL routines:ssl3_get_record:wrong version number'],
    ['noTls', 'Client network socket disconnected before secure TLS connection was established'],
    ['noTls', 'Custom { kind: InvalidData, error: InvalidMessage(InvalidContentType) }'],
  ])('is told for what it is: %s, "%s"', (refusal, message) => {
    expect(tlsRefusalIn(message)).toBe(refusal);
  });

  it('is not seen in others', () => {
    for (const message of ['connect ECONNREFUSED 127.0.0.1:7233', 'Deadline exceeded after 0.8s', '']) {
      expect(tlsRefusalIn(message)).toBeNull();
    }
  });
});
