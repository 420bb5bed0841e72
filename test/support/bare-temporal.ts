import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** gRPC's status for an unauthenticated caller. */
const UNAUTHENTICATED = '16';
/** An empty message of gRPC: not compressed, of length 0. */
const EMPTY = Buffer.alloc(5);

/**
 * As much of Temporal as a connection needs: answers each call with an empty message, or accepts only one API key.
 * It records the identities of callers and their calls. It never answers `silentOn`.
 */
export const openBareTemporal = async ({
  apiKey = null,
  silentOn = null,
}: { readonly apiKey?: string | null; readonly silentOn?: string | null } = {}) => {
  const calls: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer().on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    authorizations.push(headers.authorization);
    const call = headers[':path']?.split('/').at(-1) ?? '';
    calls.push(call);
    if (call === silentOn) return;
    const isKnown = apiKey === null || headers.authorization === `Bearer ${apiKey}`;
    const content = { ':status': 200, 'content-type': 'application/grpc' };
    stream.resume();
    if (!isKnown) {
      stream.respond({ ...content, 'grpc-status': UNAUTHENTICATED, 'grpc-message': 'who is it' }, { endStream: true });
      return;
    }
    stream.respond(content, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(EMPTY);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    authorizations,
    calls,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
