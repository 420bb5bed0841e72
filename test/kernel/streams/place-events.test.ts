import { createHmac } from 'node:crypto';

import { expect, it } from 'vitest';

import { createSeals } from '../../../src/kernel/crypto/seals.js';
import { firstHead, nextHead } from '../../../src/kernel/streams/fold.js';
import { metaBytes, placeEvents } from '../../../src/kernel/streams/place-events.js';
import { note, onBehalf, STREAM, texts } from '../../support/streams.js';

const first = firstHead(texts);
const KEY = Buffer.alloc(32, 7);
const seals = createSeals(KEY);
const NOW = '2026-01-01T00:00:00.000Z';

/** The ids of notes, staged at the beginning of a stream unless another head is given. */
const idsOf = (
  words: readonly string[],
  { commandId = 'x', timeMs = 5, now = NOW, head = first, stream = STREAM } = {},
) =>
  placeEvents(words.map(note), { stream, fold: texts, head }, onBehalf(commandId), { now, timeMs }).events.map(
    ({ id }) => id,
  );

it('gives the same event at the same position the same id, and other ids if time, position or content differs', () => {
  const [id] = idsOf(['a']);
  expect(idsOf(['a'])).toEqual([id]);
  const [before] = placeEvents([note('before')], { stream: STREAM, fold: texts, head: first }, onBehalf('x'), {
    now: NOW,
    timeMs: 5,
  }).events;
  const others = [
    idsOf(['b']),
    idsOf(['a'], { commandId: 'y' }),
    idsOf(['a'], { timeMs: 6 }),
    idsOf(['a'], { now: '2026-01-01T00:00:00.001Z' }),
    idsOf(['a'], { stream: 'another' }),
    before === undefined ? [] : idsOf(['a'], { head: nextHead(texts, first, before) }),
    idsOf(['a', 'a']).slice(1),
  ].flat();
  expect(new Set([id, ...others]).size).toBe(8);
});

it('counts the characters of JSON in the events', () => {
  const { chars } = placeEvents([note('a'), note('bc')], { stream: STREAM, fold: texts, head: first }, onBehalf('x'), {
    now: NOW,
    timeMs: 5,
  });
  expect(chars).toBe(JSON.stringify(note('a').data).length + JSON.stringify(note('bc').data).length);
});

it('seals each event: a MAC of its hash, which the hash does not cover [10.13a]', () => {
  const place = { stream: STREAM, fold: texts, head: first };
  const drafts = [note('a'), note('b')];
  const times = { now: NOW, timeMs: 5 };
  const { events } = placeEvents(drafts, { ...place, seals }, onBehalf('x'), times);
  const { events: without } = placeEvents(drafts, place, onBehalf('x'), times);
  for (const [at, { meta }] of events.entries()) {
    const { mac, ...covered } = meta;
    expect(mac).toBe(createHmac('sha256', KEY).update(meta.hash).digest('base64url'));
    expect(without[at]?.meta).toEqual(covered);
  }
});

it('computes the length of metadata in advance', () => {
  const context = { ...onBehalf('x'), correlationId: 'a "quoted" id', causationId: 'another' };
  const place = { stream: STREAM, fold: texts, head: first, seals };
  const [placed] = placeEvents([note('a')], place, context, { now: NOW, timeMs: 5 }).events;
  const written = Buffer.byteLength(JSON.stringify(placed?.meta));
  // One digit is reserved for versions beyond the ninth.
  expect(metaBytes(context)).toBe(written + 1);
});
