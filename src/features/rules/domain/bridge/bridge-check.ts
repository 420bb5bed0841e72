import type { JsonObject } from '../../../../kernel/base/json.js';

/** What one rule of the bridge found; recorded with a verdict. */
export type BridgeCheck = {
  readonly brRuleId: string;
  readonly passed: boolean;
  readonly code?: string;
  readonly reason?: string;
  readonly details?: JsonObject;
};
