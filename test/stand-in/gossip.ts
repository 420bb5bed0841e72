import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';

import { randomUUID } from 'node:crypto';

import type { Trouble } from './trouble.js';

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;

const member = (port: number, state: typeof LEADER | typeof FOLLOWER | typeof UNKNOWN): gossip.MemberInfo =>
  new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString(randomUUID()))
    .setTimeStamp(String(Date.now() * 10_000))
    .setState(state)
    .setIsAlive(true)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));

/** A node's view of its cluster: itself, and the leader that it follows. A node without one is the leader, unless one is being elected. */
export const clusterOf = (port: number, { leaderPort, electing = false }: Trouble): gossip.ClusterInfo =>
  new gossip.ClusterInfo().setMembersList([
    member(port, electing ? UNKNOWN : leaderPort === undefined ? LEADER : FOLLOWER),
    ...(electing || leaderPort === undefined ? [] : [member(leaderPort, LEADER)]),
  ]);
