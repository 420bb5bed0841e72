import { describe, expect, it } from 'vitest';

import { messageOf } from '../../../src/adapters/eventstore/batch-messages.js';
import { serialise } from '../../../src/adapters/shared/append-rules.js';
import { takeCard } from '../../../src/features/cards/import-card.js';
import { arrive } from '../../../src/features/souls/arrive.js';
import { metaBytes } from '../../../src/kernel/streams/place-events.js';
import { stepTurn } from '../../../src/features/turns/step-turn.js';
import { readCard } from '../../../src/features/cards/domain/read-card.js';
import { MEMORY_BYTES, METADATA_BYTES } from '../../../src/features/npcs/domain/recorded-bytes.js';
import { APPEND_BYTES } from '../../../src/kernel/streams/append-size.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventToAppend } from '../../../src/ports/event-store.js';
import { v1Card } from '../../features/cards/domain/cards.js';
import { event } from '../../support/events.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { openMinds, tapeOf } from '../../support/minds.js';
import { soulMemory, unsignedSoul } from '../../support/souls.js';

/** The maximum append of KurrentDB 25, in bytes. */
const SERVER_BYTES = 1_048_576;

/** How KurrentDB counts an append: data and metadata in the bytes sent, and twice the length of each type. */
const countedByServer = (events: readonly EventToAppend[]): number =>
  messageOf('', 1, { stream: 's', expected: 'no_stream', events: serialise(events) })
    .getProposedMessagesList()
    .reduce((sum, sent) => {
      const type = sent.getMetadataMap().get('type') ?? '';
      return sum + sent.getData_asU8().length + sent.getCustomMetadata_asU8().length + 2 * type.length;
    }, 0);

/** The longest ids that a request may have. In JSON, a quotation mark takes two bytes. */
const TENANT = 't'.repeat(64);
const longest = {
  tenant: TENANT,
  actor: 'k'.repeat(17),
  commandId: `czzzzzzzz_${'x'.repeat(16)}rzzzzzzzz`,
  correlationId: '"'.repeat(128),
  causationId: null,
};

/** Minds whose store records how much KurrentDB would count for each append. */
const scene = async () => {
  const store = new MemoryEventStore();
  const sizes: { readonly events: number; readonly bytes: number }[] = [];
  const append = store.append.bind(store);
  store.append = (stream, expected, events) => {
    sizes.push({ events: events.length, bytes: countedByServer(events) });
    return append(stream, expected, events);
  };
  const { deps } = await openMinds(store);
  return { deps, sizes, most: () => Math.max(...sizes.map(({ bytes }) => bytes)) };
};

describe('the size of the largest appends, as KurrentDB 25 counts it', () => {
  it('is below the limit for the maximum number of events of the maximum size', () => {
    const fill = (chars: number) =>
      Array.from({ length: 500 }, (_, n) =>
        event(`e-${String(n)}`, { data: { text: 'x'.repeat(chars) }, meta: longest }),
      );
    const most = Math.floor((APPEND_BYTES - countedByServer(fill(0))) / 500);
    expect(countedByServer(fill(most))).toBeGreaterThan(APPEND_BYTES - 500);
    expect(countedByServer(fill(most))).toBeLessThan(SERVER_BYTES);
    expect(() => serialise(fill(most + 1))).toThrow(expect.objectContaining({ code: 'EVENTS_TOO_LARGE' }));
  });

  it('is below the limit for the memories of a soul, few large ones and many small ones', async () => {
    const fat = soulMemory(1, { text: 'x'.repeat(MEMORY_BYTES), metadata: { notes: 'x'.repeat(METADATA_BYTES - 12) } });
    const turnId = 't'.repeat(128);
    const many = soulMemory(1, {
      text: 'x'.repeat(2_600),
      type: 'x'.repeat(64),
      cause: { turnId, eventId: 'e'.repeat(128), revision: Number.MAX_SAFE_INTEGER },
    });
    for (const memory of [fat, many]) {
      const { deps, sizes, most } = await scene();
      const memories = Array.from({ length: 500 }, (_, n) => ({ ...memory, id: `${String(n)}${'m'.repeat(125)}` }));
      const document = { ...unsignedSoul({ memories, soulId: 's'.repeat(128) }), trainingProof: 'r', signature: 's' };
      const arrival = {
        ...{
          tenant: TENANT,
          importId: `izzzzzzzz_zzzzzzzz_${'x'.repeat(16)}`,
          txId: 'tx',
          receivedAt: '2026-01-02T00:00:00.000Z',
        },
        soul: {
          ...({ soulId: document.id, digest: 'd', root: 'r', kid: 'k', signer: 'unknown', copy: false } as const),
          ...{ npcId: document.npcId, memories: memories.length, bytes: 1 },
        },
      };
      await arrive(deps, arrival, document, new AbortController().signal);
      expect(sizes.length).toBeGreaterThan(2);
      expect(most()).toBeGreaterThan(800_000);
      expect(most()).toBeLessThan(SERVER_BYTES);
    }
  });

  it.each([480, 20])(
    'is below the limit for a card with %i entries, or the card is refused with its size',
    async (count) => {
      const { deps, sizes, most } = await scene();
      const take = (chars: number) => {
        const entries = Array.from({ length: count }, (_, n) => ({
          keys: [`key ${String(n)}`],
          content: `${String(n)} ${'x'.repeat(chars)}`,
        }));
        const card = { ...v1Card, character_book: { entries } } as JsonObject;
        return takeCard(deps, npcStream(TENANT, `of ${String(chars)}`), readCard(card), longest);
      };
      let [fits, tooLarge] = [1, Math.floor(524_288 / count)];
      while (tooLarge - fits > 1) {
        const chars = Math.floor((fits + tooLarge) / 2);
        const taken = await take(chars).catch((error: unknown) => error);
        if (taken instanceof Error) {
          expect(taken).toMatchObject({ code: 'EVENTS_TOO_LARGE', details: { bytes: expect.any(Number) as number } });
          tooLarge = chars;
        } else fits = chars;
      }
      expect(sizes.at(-1)?.events).toBeGreaterThan(count);
      expect(most()).toBeLessThan(SERVER_BYTES);
      // The reserve for each event is not much more than it takes.
      expect(most()).toBeGreaterThan(1_030_000);
    },
  );

  it('is below the limit for a resumed turn with its verdict', async () => {
    const { deps, sizes, most } = await scene();
    const memory = { text: 'm'.repeat(2_900), type: 'observation', importance: 0.5 };
    const said = {
      dialogue: 'd'.repeat(30_000),
      action: { type: 'MOVE', payload: 'p'.repeat(30_000) },
      stateTransform: { noted: 's'.repeat(15_000) },
      memoryStore: Array.from({ length: 16 }, () => memory),
    };
    const generatedOutput = JSON.stringify(said);
    const tape = tapeOf({
      turnId: 'lost',
      observation: 'o'.repeat(510_000 - generatedOutput.length * 2),
      actor: { npcId: 'mira', persona: 'p'.repeat(20_000), data: {} },
      memories: [],
      vectorQueried: true,
      generatedOutput,
    });
    const stepped = await stepTurn(deps, {
      ...{ stream: npcStream(TENANT, 'mira'), tape, result: null, by: longest },
      ...{ keyed: false, resumed: false },
    });
    expect(stepped.answer.instruction.type).toBe('Finalize');
    expect(sizes).toEqual([{ events: 19, bytes: expect.any(Number) as number }]);
    expect(most()).toBeGreaterThan(600_000);
    expect(most()).toBeLessThan(SERVER_BYTES);
    // Its events have a mark in addition to what the context makes.
    expect(20 * (metaBytes(longest) + 200)).toBeLessThan(20_000);
  });
});
