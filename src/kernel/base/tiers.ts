/** A tier's limits; `null` is unlimited. */
export type TierLimits = {
  readonly rateLimit: { readonly limit: number; readonly windowSeconds: number } | null;
  /** How many NPCs of the tenant may have an open turn at a time. */
  readonly concurrentNpcs: number | null;
};

/** The tiers of tenants. They are stored only: the server refuses to start with `ANIMA_TIERS=on`. */
export const tiers = {
  free: { rateLimit: { limit: 60, windowSeconds: 60 }, concurrentNpcs: 3 },
  pro: { rateLimit: { limit: 600, windowSeconds: 60 }, concurrentNpcs: 25 },
  enterprise: { rateLimit: null, concurrentNpcs: null },
} as const satisfies Readonly<Record<string, TierLimits>>;

export type Tier = keyof typeof tiers;
export const tierNames = Object.keys(tiers) as Tier[];

/** The tier of a tenant that was created without one. */
export const defaultTier: Tier = 'free';
