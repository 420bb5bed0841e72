import type { JsonObject } from '../../../kernel/base/json.js';
import type { NpcEvent } from './events.js';

/**
 * An event of a mind in the form that a transition emits. It is JSON by construction, but the compiler cannot prove that for types without an index
 * signature.
 */
export const draft = (event: NpcEvent): { readonly type: string; readonly data: JsonObject } =>
  event as unknown as { readonly type: string; readonly data: JsonObject };
