import { KeyedMutex } from '../../../kernel/concurrency/keyed-mutex.js';
import { SingleFlight } from '../../../kernel/concurrency/single-flight.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { ARCHIVE_GRANT_TYPE, issueArchiveGrant } from '../archive-grant.js';
import type { OtherArchives } from '../other-archives.js';
import { createSealedPayloads } from '../sealed-payloads.js';
import type { SoulTrust } from '../verify-soul.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import type { RouteDefinition } from '../../../kernel/http/route.js';
import { agentExportRoute } from './agent-export.js';
import { exportRoutes, type ExportServices } from './exports.js';
import { importRoutes } from './imports.js';
import { keptSoulRoutes } from './souls.js';

type SoulRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly runtime: ProcessRuntime;
  readonly signingKeys: SigningKeys;
  readonly publicUrl: string;
  readonly soulTrust: SoulTrust;
  readonly archives: OtherArchives;
  readonly soulDeadlineMs: number;
};

/** All routes of souls except the archive. */
export const soulRoutes = (services: SoulRouteDeps): readonly RouteDefinition[] => {
  const { ports, signingKeys, publicUrl } = services;
  const grants = {
    sign: (claims: Parameters<typeof signingKeys.sign>[1]) =>
      signingKeys.sign(signingKeys.current.kid, claims, { typ: ARCHIVE_GRANT_TYPE }),
    issuer: publicUrl,
  };
  const mutex = new KeyedMutex();
  const exporting: ExportServices = {
    ...services,
    events: ports.events,
    clock: ports.clock,
    archive: ports.soulArchive,
    mutex,
    waits: new SingleFlight(),
    payloads: createSealedPayloads(ports.soulArchive, mutex),
    grantFor: async (grant) => `Bearer ${await issueArchiveGrant(grants, grant)}`,
  };
  const trust = services.soulTrust;
  return [
    ...exportRoutes(exporting),
    agentExportRoute(exporting),
    ...importRoutes({ ...exporting, readModels: ports.readModels, trust }),
    ...keptSoulRoutes({ ...services, trust }, mutex),
  ];
};
