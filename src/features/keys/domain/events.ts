import { decoderOf } from '../../../kernel/base/decoder.js';
import type { RateLimit } from '../../../kernel/base/rate-limit.js';
import type { Scope } from '../../../kernel/base/scopes.js';
import type { Tier } from '../../../kernel/base/tiers.js';

/** The key's own limit. `off` means no limit; null means the limit of the tier or of the server. */
export type KeyLimit = RateLimit | 'off' | null;

/**
 * The events of a tenant's stream. The shapes are storage: they never change and are only upcast (docs/adr/0004). No event holds a key: only its
 * keyed hash, from which the key cannot be recovered.
 */
export type TenantEvent =
  /** `tier` is null for the server's own tenant, to which no tier applies. */
  | { type: 'TenantCreated'; data: { readonly tenantId: string; readonly tier: Tier | null } }
  | {
      type: 'KeyIssued';
      data: {
        readonly keyId: string;
        readonly name: string;
        readonly scopes: readonly Scope[];
        /** HMAC-SHA256 of the complete key, base64url. */
        readonly hash: string;
        readonly rateLimit: KeyLimit;
        /** RFC 3339; the key is refused from this instant on. Null: never. */
        readonly expiresAt: string | null;
        readonly test: boolean;
        /** Made with the tenant or by recovery, not issued by another key. */
        readonly owner: boolean;
        readonly createdAt: string;
        /** Absent in keys issued while `ops` alone allowed what `metrics`, `retract` and `acknowledge` allow now. */
        readonly splitOps?: true;
      };
    }
  /** Only what changed. */
  | { type: 'KeyChanged'; data: { readonly keyId: string; readonly name?: string; readonly rateLimit?: KeyLimit } }
  | { type: 'KeyRevoked'; data: { readonly keyId: string } }
  /** The name of the engine that the tenant's minds use from now on. */
  | { type: 'CortexChosen'; data: { readonly cortexId: string } };

/**
 * The events of the stream that names the tenants. A name only shows where to look. The tenant exists once its own stream has its first event,
 * because one append there holds the tenant together with its first key.
 */
export type TenantsEvent = { type: 'TenantNamed'; data: { readonly tenantId: string } };

/** The decoder of a tenant's stream. */
export const tenantEvents = decoderOf<TenantEvent>({
  TenantCreated: [],
  KeyIssued: [],
  KeyChanged: [],
  KeyRevoked: [],
  CortexChosen: [],
});

/** The decoder of the stream that names the tenants. */
export const tenantsEvents = decoderOf<TenantsEvent>({ TenantNamed: [] });
