const text = { type: 'string' };
const revision = { type: 'integer', minimum: 0 };

/** The headers of responses, with their meaning. What HTTP itself requires, such as `Content-Type` and `Vary`, is left out. */
export const responseHeaders = {
  'Anima-Compared-By-Words': {
    description:
      'What has no vector, because the embedder does not know its script: `query`, or some `memories`. It was compared by its words.',
    schema: { type: 'string', enum: ['query', 'memories'] },
  },
  'Anima-Embedder': {
    description: 'The embedder that compared the meanings, with its version or model.',
    schema: text,
  },
  'Anima-Embedding-Pending': {
    description: 'How many memories have no vector yet and were compared by their words; absent if there are none.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Anima-Revision': {
    description:
      "The revision of the NPC's history that this response includes. Send it as `Anima-Min-Revision` to read at least that.",
    schema: revision,
  },
  'Anima-Warning': {
    description:
      'Something looks wrong, although the request was carried out: an unknown member, a header that is ignored, or a ruleset that is missing or ignored.',
    schema: text,
  },
  'Content-Disposition': { description: 'A file name for the content.', schema: text },
  Deprecation: {
    description: 'The time from which this route is deprecated (RFC 9745). Refusals of the route have it, too.',
    schema: text,
  },
  ETag: {
    description:
      'Names this version of the content. Send it as `If-None-Match` to get the content only when it has changed, or as `If-Match` to change it only while it has not, where the route reads that header.',
    schema: text,
  },
  'Idempotency-Replayed': {
    description: 'Always `true`: this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: text,
  },
  Link: {
    description: 'The next page has `rel="next"`; absent on the last page. A deprecated route has `rel="deprecation"`.',
    schema: text,
  },
  Location: { description: 'The path of the next request.', schema: text },
  RateLimit: { description: 'What is left of the rate limit, if the key has one.', schema: text },
  'RateLimit-Policy': { description: 'The rate limit, if the key has one.', schema: text },
  'Retry-After': {
    description: 'Seconds to wait before the same request is worth sending again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'Always `Bearer`.', schema: text },
  'X-Id': { description: 'The id of the archived payload.', schema: text },
  'X-Request-Id': { description: 'The id of this request. Quote it when you report a problem.', schema: text },
} as const satisfies Readonly<Record<string, object>>;

export type ResponseHeader = keyof typeof responseHeaders;

/** The headers that handlers read, with their meaning. */
export const requestHeaders = {
  'Anima-Min-Revision': {
    description: 'Answer only from this revision of the NPC on, such as the `Anima-Revision` of an earlier response.',
    schema: revision,
  },
  'If-Match': {
    description:
      'The `ETag` of the version that you mean to change, or several of them, or `*` for any. Otherwise the request is refused with 412.',
    schema: text,
  },
  'Last-Event-ID': { description: 'Continue after the event with this id.', schema: revision },
  'X-Anima-Stream': {
    description:
      'With `provisional`, a stream has the sentences while the engine still writes them, and takes back what is not said. Default: `verified`.',
    schema: text,
  },
  'X-Player-Id': {
    description: 'The id of the player who speaks, percent-encoded; a player in the body overrides it.',
    schema: text,
  },
  'X-Service-Signature': { description: 'The signature, if the body has none.', schema: text },
} as const satisfies Readonly<Record<string, object>>;

export type RequestHeader = keyof typeof requestHeaders;

/** Who speaks. It belongs to the request, so a repeat under the same Idempotency-Key must have the same. */
export const PLAYER_HEADER = 'X-Player-Id' satisfies RequestHeader;
