import { Server, ServerCredentials } from '@grpc/grpc-js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type gossip from '@eventstore/db-client/generated/gossip_pb.js';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';

import { append, type BatchCall, batchAppend } from './append.js';
import type { Like } from './like.js';
import type { Log } from './log.js';
import { clusterOf } from './gossip.js';
import { read } from './read.js';
import type { ReadCall } from './wire.js';
import { endOfCall, type Trouble } from './trouble.js';

/** A request larger than this ends its call, in bytes. */
const MAX_REQUEST_BYTES = 17 * 1024 * 1024;

const STREAMS = 'event_store.client.streams.streams';
const METHODS: Readonly<Record<string, readonly string[]>> = {
  append: [],
  batchappend: ['deadline_duration'],
  read: ['position', 'events'],
};

const supported = ({ version }: Like): features.SupportedMethods => {
  const methods = Object.entries(METHODS).map(([name, list]) =>
    new features.SupportedMethod()
      .setMethodName(name)
      .setServiceName(STREAMS)
      .setFeaturesList([...list]),
  );
  return new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(methods);
};

/** Serves a log on loopback and returns the port; `port` 0 picks a free one. Deleting streams is UNIMPLEMENTED. */
export const serve = async (
  log: Log,
  like: Like,
  port: number,
  trouble: () => Trouble,
): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_send_message_length': -1,
  });
  server.addService(streamsService.StreamsService, {
    read: (call: ReadCall) => {
      const end = endOfCall(trouble(), call, 'read');
      if (end === null) read(log, like, trouble)(call);
      else call.emit('error', end);
    },
    append: append(log, like),
    batchAppend: (call: BatchCall) => {
      // A user without the right to write gets this in each answer.
      const end = endOfCall({ ...trouble(), denies: [] }, call, 'write');
      if (end === null) batchAppend(log, like, trouble)(call);
      else call.emit('error', end);
    },
  });
  server.addService(featuresService.ServerFeaturesService, {
    getSupportedMethods: (_call: unknown, answer: (error: null, methods: features.SupportedMethods) => void) =>
      answer(null, supported(like)),
  });
  let own = port;
  server.addService(gossipService.GossipService, {
    read: (_call: unknown, answer: (error: null, cluster: gossip.ClusterInfo) => void) =>
      answer(null, clusterOf(own, trouble())),
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, found) =>
      error === null ? resolve(found) : reject(error),
    );
  });
  own = bound;
  return { server, port: bound };
};
