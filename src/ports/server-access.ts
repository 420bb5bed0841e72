/** What a client trusts and shows when it speaks TLS. All texts are PEM. */
export type TlsAccess = {
  /** The authorities that are trusted; null: the public ones that Node ships. */
  readonly ca: string | null;
  /** What the client shows a server that asks for it. */
  readonly client: { readonly certificate: string; readonly key: string } | null;
  /** The name that the server's certificate must bear; null: the host of its address. */
  readonly serverName: string | null;
};

/** How a user of Kafka proves who it is. */
export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type SaslAccess = {
  readonly mechanism: (typeof saslMechanisms)[number];
  readonly username: string;
  readonly password: string;
};

/** The keys of what is kept at Temporal, 32 bytes each. All of them decrypt. */
export type PayloadKeys = {
  /** The one that encrypts; null: what is written now stays plain. */
  readonly encrypting: Uint8Array | null;
  readonly all: readonly Uint8Array[];
};

/** How Temporal is spoken to; null is "without it". */
export type TemporalAccess = {
  readonly tls: TlsAccess | null;
  readonly apiKey: string | null;
  readonly payloadKeys: PayloadKeys;
};

/** How Kafka is spoken to; null is "without it". */
export type KafkaAccess = {
  readonly tls: TlsAccess | null;
  readonly sasl: SaslAccess | null;
};
