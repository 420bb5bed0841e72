/** Why two programs do not come to speak TLS with each other, as far as their messages tell. */
export type TlsRefusal = 'untrusted' | 'otherName' | 'expired' | 'clientCertificate' | 'noTls';

/** What Node (OpenSSL) and Temporal's core (rustls) say, in this order: an alert comes from the server, what is not one is our own judgement. */
const said: readonly (readonly [TlsRefusal, RegExp])[] = [
  [
    'clientCertificate',
    /alert[ a-z0-9]*(?:certificate|unknown ca|handshake failure)|alert number|received fatal alert|AlertReceived/i,
  ],
  ['otherName', /does not match certificate|NotValidForName/i],
  ['expired', /certificate has expired|certificate is not yet valid|InvalidCertificate\((?:Expired|NotValidYet)/i],
  [
    'untrusted',
    /self[- ]signed|unable to (?:get|verify).*(?:certificate|issuer)|InvalidCertificate|UnknownIssuer|NativeCertsNotFound/i,
  ],
  ['noTls', /wrong version number|packet length too long|before secure TLS connection|InvalidContentType/i],
];

/** What a message says of TLS; null when it is about something else. */
export const tlsRefusalIn = (message: string): TlsRefusal | null =>
  said.find(([, pattern]) => pattern.test(message))?.[0] ?? null;
