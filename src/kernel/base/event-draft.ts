import type { JsonObject } from './json.js';

/** An event as its decider makes it, before it has a place in a stream. */
export type EventDraft = { readonly type: string; readonly data: JsonObject };
