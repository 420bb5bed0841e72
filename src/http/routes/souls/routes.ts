import { ARCHIVE_GRANT_TYPE, issueArchiveGrant } from '../../../app/souls/archive-grant.js';
import type { RouteDefinition } from '../../route.js';
import type { Services } from '../../services.js';
import { agentExportRoute } from './agent-export.js';
import { exportRoutes, type ExportServices } from './exports.js';
import { keptSoulRoutes } from './kept.js';

/** Everything about souls but the archive itself (contract 7.2, 8). */
export const soulRoutes = (services: Services): readonly RouteDefinition[] => {
  const { ports, signingKeys, publicUrl } = services;
  const grants = {
    sign: (claims: Parameters<typeof signingKeys.sign>[1]) =>
      signingKeys.sign(signingKeys.current.kid, claims, { typ: ARCHIVE_GRANT_TYPE }),
    issuer: publicUrl,
  };
  const exporting: ExportServices = {
    ...services,
    events: ports.events,
    clock: ports.clock,
    archive: ports.soulArchive,
    grantFor: async (grant) => `Bearer ${await issueArchiveGrant(grants, grant)}`,
  };
  return [
    ...exportRoutes(exporting),
    agentExportRoute(exporting),
    ...keptSoulRoutes({ ...services, trust: services.soulTrust }),
  ];
};
