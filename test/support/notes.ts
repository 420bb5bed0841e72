import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { revisionOrder } from '../../src/kernel/read-models/row-order.js';
import type { EventToAppend } from '../../src/ports/event-store.js';
import type { Projection } from '../../src/ports/read-models.js';
import { event } from './events.js';

export type Note = { readonly stream: string; readonly id: string; readonly text: string; readonly revision: number };

/** Ids and texts. An event may hold any number of them, or none. */
export type Texts = Readonly<Record<string, string>>;

export const noted = (id: string, texts: Texts): EventToAppend => event(id, { type: 'Noted', data: { texts } });
export const struck = (id: string, ids: readonly string[]): EventToAppend =>
  event(id, { type: 'Struck', data: { ids: [...ids] } });
export const cleared = (id: string): EventToAppend => event(id, { type: 'Cleared', data: {} });

const textsIn = (data: JsonObject): Texts => (data['texts'] ?? {}) as Texts;

export const placeOf = (revision: number, id = ''): string => revisionOrder(revision) + id;

/**
 * Notes. One event makes, changes or removes any number of them. A note with the text `poison` cannot be applied. A clear is a row too: readers use
 * it as a bound.
 */
export const notes: Projection<Note> = {
  name: 'notes',
  version: 1,
  handles: ['Noted', 'Struck', 'Cleared'],
  idsOf: ({ type, data }) => {
    if (type === 'Cleared') return ['cleared'];
    return type === 'Noted' ? Object.keys(textsIn(data)) : (data['ids'] as Json[]).map(String);
  },
  evolve: (row, { stream, revision, type, data }, id) => {
    if (type === 'Struck') return null;
    const text = textsIn(data)[id] ?? '';
    if (text === 'poison') throw new Error(`${id} does not fit`);
    // A note stays where it was first made.
    return { stream, id, text, revision: type === 'Cleared' ? revision : (row?.revision ?? revision) };
  },
  indexOf: ({ stream, id, revision }) => ({
    partition: id === 'cleared' ? `${stream}/cleared` : stream,
    order: placeOf(revision, id),
    tag: '',
  }),
  textOf: ({ text }) => (text === '' ? null : text),
};
