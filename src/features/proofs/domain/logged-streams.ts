import { localTenant, signingKeysStream, tenantOf, tenantsStream } from '../../../kernel/base/stream-names.js';

/** The kinds of streams of a tenant that its log holds: all on which decisions rest. A kind is how the names of its streams begin. */
const tenantKinds = ['npc', 'ruleset', 'level', 'ghost', 'tenant', 'access'] as const;
/** The streams of the server, which the log of the server's own tenant holds. */
const serverStreams = [tenantsStream, signingKeysStream] as const;

export type LoggedKind = (typeof tenantKinds)[number] | (typeof serverStreams)[number];
/** In the order in which a round names them. */
export const loggedKinds: readonly LoggedKind[] = [...tenantKinds, ...serverStreams];
/** What logs held before rounds named their kinds. */
export const firstKinds: readonly LoggedKind[] = ['npc'];

/** The kinds that a log does not hold yet. @param kinds those that it holds; null before its first round, which gathers all */
export const kindsBehind = (kinds: readonly LoggedKind[] | null): readonly LoggedKind[] =>
  kinds === null ? [] : loggedKinds.filter((kind) => !kinds.includes(kind));

const isTenantKind = (kind: string): kind is (typeof tenantKinds)[number] =>
  (tenantKinds as readonly string[]).includes(kind);
const isServerStream = (stream: string): stream is (typeof serverStreams)[number] =>
  (serverStreams as readonly string[]).includes(stream);

/** Which log holds a stream, and as what; null for streams that no log holds. */
export const logOf = (stream: string): { readonly tenant: string; readonly kind: LoggedKind } | null => {
  if (isServerStream(stream)) return { tenant: localTenant, kind: stream };
  const kind = stream.slice(0, Math.max(0, stream.indexOf('-')));
  if (!isTenantKind(kind)) return null;
  const tenant = tenantOf(stream);
  return tenant === null ? null : { tenant, kind };
};

/**
 * Which log an event goes into, and as what; null for events that no log holds. A ghost session is logged once, when it has been reported: what it
 * recorded before then decides nothing.
 */
export const logOfEvent = ({ stream, type }: { readonly stream: string; readonly type: string }) => {
  const log = logOf(stream);
  return log?.kind === 'ghost' && type !== 'GhostReported' ? null : log;
};
