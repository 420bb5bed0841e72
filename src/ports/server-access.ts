/** What a client trusts and presents in TLS. All texts are PEM. */
export type TlsAccess = {
  /** The trusted authorities; null: the public ones that Node ships. */
  readonly ca: string | null;
  /** What the client presents to a server that requests it. */
  readonly client: { readonly certificate: string; readonly key: string } | null;
  /** The name that the server's certificate must carry; null: the host of its address. */
  readonly serverName: string | null;
};

/** The SASL mechanisms by which a Kafka user authenticates. */
export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type SaslAccess = {
  readonly mechanism: (typeof saslMechanisms)[number];
  readonly username: string;
  readonly password: string;
};

/** The keys that encrypt payloads stored at Temporal, 32 bytes each. All of them decrypt. */
export type PayloadKeys = {
  /** The one that encrypts; null: new payloads are not encrypted. */
  readonly encrypting: Uint8Array | null;
  readonly all: readonly Uint8Array[];
};

/** How to connect to Temporal; null means "without it". */
export type TemporalAccess = {
  readonly tls: TlsAccess | null;
  readonly apiKey: string | null;
  readonly payloadKeys: PayloadKeys;
};

/** How to connect to Kafka; null means "without it". */
export type KafkaAccess = {
  readonly tls: TlsAccess | null;
  readonly sasl: SaslAccess | null;
};
