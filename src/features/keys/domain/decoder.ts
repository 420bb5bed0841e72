import { decoderOf } from '../../../kernel/base/decoder.js';
import type { TenantEvent, TenantsEvent } from './events.js';

/** The events of a tenant's stream. */
export const tenantEvents = decoderOf<TenantEvent>({
  TenantCreated: [],
  KeyIssued: [],
  KeyRevoked: [],
  CortexChosen: [],
});

/** The events of the stream that names the tenants. */
export const tenantsEvents = decoderOf<TenantsEvent>({ TenantNamed: [] });
