import { differing, get, type Input, members, memories, post } from './input.js';

/** A card whose memories nearly fill an append. @param entries of its book, which share the available space */
const cardOf = (entries: number) => ({
  spec: 'chara_card_v3',
  spec_version: '3.0',
  data: {
    name: 'Mira',
    description: differing(60_000),
    character_book: {
      entries: Array.from({ length: entries }, (_, n) => ({
        keys: Array.from({ length: 5 }, (_key, k) => `key ${n} ${k}`),
        content: differing(Math.floor(300_000 / entries) - 120).replaceAll('0', String(n % 10)),
        enabled: true,
        extensions: {},
      })),
    },
  },
});

/** As many rules, conditions and patterns as a set may have. */
const rules = Array.from({ length: 500 }, (_, n) => ({
  drRuleId: `r${n}`,
  ruleName: `Rule ${n} ${'x'.repeat(600)}`,
  ruleCondition: [[`context.k${n % 200}`, `>${n}`]],
  ruleAction: n % 2 === 0 ? 'FORBID MOVE, TRADE' : 'MOVE',
  ruleReason: 'Because. '.repeat(70),
  rulePriority: n,
  ...(n % 25 === 0 ? { ruleObsPattern: `(gate|tower|w${n})\\b.*stranger` } : {}),
}));

/** Large stored objects, and reads of them. */
export const thingInputs: Readonly<Record<string, Input>> = {
  'a registration, 9,900 members of data': async (npcId) => post('/npcs', { npcId, data: members(9_900) }),
  'a registration, a persona of 500 kB': async (npcId) => post('/npcs', { npcId, persona: differing(500_000) }),
  'a patch of 9,900 members of data': async (npcId, send) => {
    await send(post('/npcs', { npcId, data: members(9_900) }));
    return { method: 'PATCH', path: `/npcs/${npcId}`, body: { data: { 'member 1': 'other' } } };
  },
  'facts of 3,000 members about 1,000 NPCs': async (name) =>
    post('/facts', { npcIds: Array.from({ length: 1_000 }, (_, n) => `${name}-${n}`), facts: members(3_000) }),
  'a memory of 8 kB': async (npcId, send) => {
    await send(post('/npcs', { npcId }));
    return post(`/npcs/${npcId}/memory`, { text: differing(8_000) });
  },
  'a recall among 990 memories of the request': async (npcId, send) => {
    await send(post('/npcs', { npcId }));
    return post(`/npcs/${npcId}/memory/recall`, {
      query: differing(4_000),
      memories: memories.slice(0, 970),
      limit: 100,
    });
  },
  'a card, a book of 480 entries': async (npcId) => post(`/npcs/${npcId}/card`, cardOf(480)),
  'a card, a book of one entry': async (npcId) => post(`/npcs/${npcId}/card`, cardOf(1)),
  'the card of a mind': async (npcId, send) => {
    await send(post(`/npcs/${npcId}/card`, cardOf(480)));
    return get(`/npcs/${npcId}/card`);
  },
  'a set of 500 rules': async (rulesetId) => post('/rules', { rulesetId, rulesetRules: rules }),
  'a verdict to verify, 40,000 members': async (npcId) =>
    post('/verdicts/verify', { npcId, signature: 'a.b.c', verdict: members(40_000) }),
};
