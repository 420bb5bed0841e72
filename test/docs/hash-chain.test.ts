import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { GENESIS_HASH, type HashedEvent } from '../../src/kernel/streams/hash-chain.js';
import { hashInput } from '../support/hash-input.js';
import { findBreak } from '../support/find-break.js';
import { jcs, type JsonObject } from '../../src/kernel/base/json.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { sha256Hex } from '../../src/kernel/crypto/sha256.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/formats/hash-chain.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms')), ([, content]) => content ?? '');

const events = blocks('json').map((text) => JSON.parse(text) as JsonObject);
const written = blocks('text');
const examples = events.map((event, index) => ({
  event,
  input: written[2 * index] ?? '',
  hash: written[2 * index + 1] ?? '',
}));

/** The flat object of the page as the event that the code hashes. */
const toHashed = ({ stream, revision, id, type, data, ...meta }: JsonObject): HashedEvent =>
  ({ stream, revision, id, type, data, meta }) as unknown as HashedEvent;

describe('docs/reference/formats/hash-chain.md', () => {
  it('shows two events, each with its text and its hash', () => {
    expect(events).toHaveLength(2);
    expect(written).toHaveLength(4);
  });

  it.each(examples)('gives the text and the hash that the code makes: $hash', ({ event, input, hash }) => {
    expect(hashInput(toHashed(event))).toBe(input);
    expect(sha256Hex(input)).toBe(hash);
  });

  it.each(examples)(
    'gives a text that is the canonical form of the event as it is shown: $hash',
    ({ event, input }) => {
      expect(jcs(event)).toBe(input);
    },
  );

  it('links the second event to the first, and the first to 64 zeros', () => {
    expect(events.map(({ prevHash }) => prevHash)).toEqual([GENESIS_HASH, examples[0]?.hash]);
    expect(GENESIS_HASH).toMatch(/^0{64}$/);
  });

  it('lists exactly the members that are hashed, in their order', () => {
    const listed = Array.from(page.matchAll(/^\| `(\w+)` /gm), ([, name]) => name);
    expect(listed).toEqual(Object.keys(JSON.parse(examples[0]?.input ?? '{}') as JsonObject));
  });

  it('names the stream as the code does', () => {
    expect(events.map(({ stream }) => stream)).toEqual([
      npcStream('local', 'old gate'),
      npcStream('local', 'old gate'),
    ]);
  });

  it('checks as a chain, and not with one letter changed', () => {
    const chain = examples.map(({ event, hash }, index) => {
      const hashed = toHashed(event);
      return { ...hashed, position: index + 1, meta: { ...hashed.meta, hash } };
    });
    expect(findBreak(chain)).toBeNull();
    const [first, second] = chain;
    if (first === undefined || second === undefined) throw new Error('the page shows no two events');
    expect(
      findBreak([{ ...first, data: { ...first.data, persona: 'Zoe guards the “old gate”.' } }, second])?.revision,
    ).toBe(0);
    expect(findBreak([first, { ...second, meta: { ...second.meta, actor: 'k7Qm3' } }])?.revision).toBe(1);
  });
});
