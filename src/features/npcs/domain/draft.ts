import type { JsonObject } from '../../../kernel/base/json.js';
import type { NpcEvent } from './events.js';

/** An event of a mind as a transition emits it: JSON by construction, which the compiler cannot see of types without an index signature. */
export const draft = (event: NpcEvent): { readonly type: string; readonly data: JsonObject } =>
  event as unknown as { readonly type: string; readonly data: JsonObject };
