import { tenantEvents, tenantsEvents } from './domain/events.js';
import {
  evolveTenant,
  evolveTenantNames,
  initialTenant,
  noTenants,
  type TenantNames,
  type TenantState,
} from './domain/state.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** How a tenant's stream is folded. */
export const tenantFold: Fold<TenantState> = {
  initial: initialTenant,
  evolve: (state, event) => evolveTenant(state, tenantEvents.decode(event), event.meta.at),
  versionOf: tenantEvents.versionOf,
};

/** How the stream that names the tenants is folded. */
export const tenantNamesFold: Fold<TenantNames> = {
  initial: noTenants,
  evolve: (state, event) => evolveTenantNames(state, tenantsEvents.decode(event)),
  versionOf: tenantsEvents.versionOf,
};
