import type { JsonObject } from './json.js';

/** An event as a decider returns it, before it is appended to a stream. */
export type EventDraft = { readonly type: string; readonly data: JsonObject };
