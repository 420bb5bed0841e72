import { describe, expect, it } from 'vitest';

import { readParts } from '../../../../../src/adapters/cortex/scripted/read-parts.js';
import { giveDirective } from '../../../../../src/features/turns/domain/decision/directive.js';
import type { DecisionInput } from '../../../../../src/features/turns/domain/decision/input.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import { effectiveInput, type TurnFacts } from '../../../../../src/features/turns/domain/decision/turn-facts.js';
import { TEXT_RULES } from '../../../../../src/features/turns/domain/decision/text-rules.js';
import { reachVerdict } from '../../../../../src/features/turns/domain/decision/verdict.js';
import { verdictDigest } from '../../../../../src/features/turns/domain/signature.js';
import { type Template, templates } from '../../../../../src/features/rules/domain/ruleset.js';
import { MARKS, skeletonOf, UNSEEN } from '../../../../support/prompt-skeleton.js';
import { aRuleset, heldBy } from '../../../../support/rules.js';
import { injections } from './injections.js';

const HARMLESS = 'Good evening.';

/** Every position that text from outside can have. */
const places = ['observation', 'persona', 'data', 'data key', 'context', 'context key', 'memory'] as const;
type Place = (typeof places)[number];

const rulesetOf = (template: Template | null) =>
  aRuleset(
    [
      { ruleAction: 'FORBID ATTACK', ruleReason: 'Guests are safe here.', rulePromptSuffix: 'You are calm.' },
      { ruleCondition: [['hp', '<25']], ruleAction: 'move slowly', rulePriority: 5 },
      { ruleObsPattern: 'dragon', ruleAction: 'FLEE' },
    ],
    template,
  );

/** A decision for an actor with his own data, with this text in one position and harmless ones elsewhere. */
const inputWith = (text: string, place: Place, template: Template | null = 'Raw'): DecisionInput => {
  const at = (one: Place): string => (one === place ? text : HARMLESS);
  const facts: TurnFacts = {
    npcId: 'mira',
    mind: { persona: null, data: null, facts: {}, revision: -1 },
    ruleset: rulesetOf(template),
    rulesetRef: null,
    issuer: { kid: 'kid', iss: 'http://test' },
  };
  const observation = at('observation');
  return effectiveInput(
    facts,
    {
      observation,
      context: { place: 'inn', said: at('context'), keyed: { [at('context key')]: 1 } },
      npcState: {},
      actor: {
        npcId: 'mira',
        persona: at('persona'),
        data: { hp: 20, said: at('data'), keyed: { [at('data key')]: 1 } },
      },
      memories: [
        { text: at('memory'), type: 'observation', importance: 0.5, similarity: 0.8 },
        { text: 'It rained.', type: 'observation', importance: 0.5, similarity: 0.7 },
      ],
      patternsHeld: heldBy(facts.ruleset, observation),
    },
    TEXT_RULES,
  );
};

const memoryStore = [{ text: 'Somebody came.', type: 'observation', importance: 0.5 }];
const ANSWERS = {
  spoken: { dialogue: 'Welcome.', action: { type: 'SPEAK' }, stateDelta: { mood: 'calm' }, memoryStore },
  moved: { dialogue: '', action: { type: 'MOVE', target: 'door' }, memoryStore },
  aimless: { dialogue: 'Hm.', action: { type: 'MOVE' }, memoryStore },
  forbidden: { dialogue: 'Die!', action: { type: 'ATTACK', target: 'king' }, memoryStore },
};

it('the list has many attacks, each with its own name', () => {
  expect(injections.length).toBeGreaterThanOrEqual(60);
  expect(new Set(injections.map(([name]) => name)).size).toBe(injections.length);
});

describe.each(injections)('%s', (_, text) => {
  it.each(places)('as %s keeps the sections, lines and marks of a prompt intact', (place) => {
    for (const template of [null, ...templates]) {
      const harmless = buildPrompt(inputWith(HARMLESS, place, template));
      const { prompt, constraints, ctxMessages } = buildPrompt(inputWith(text, place, template));
      expect(skeletonOf(prompt)).toEqual(skeletonOf(harmless.prompt));
      expect(prompt.match(MARKS)).toEqual(harmless.prompt.match(MARKS));
      expect(prompt).not.toMatch(UNSEEN);
      expect(constraints).toEqual(harmless.constraints);
      expect(ctxMessages?.map(({ role, content }) => [role, skeletonOf(content)])).toEqual(
        harmless.ctxMessages?.map(({ role, content }) => [role, skeletonOf(content)]),
      );
    }
  });

  it.each(places)('as %s keeps the lines of JSON intact', (place) => {
    const { prompt } = buildPrompt(inputWith(text, place));
    for (const [, json = ''] of prompt.matchAll(/^(?:Your state|What is around you): (.*)$/gm)) {
      if (json.endsWith('…')) expect(json.length).toBeGreaterThan(4_000);
      else expect(Object.keys(JSON.parse(json) as object).slice(-2)).toEqual(['said', 'keyed']);
    }
  });

  it.each(places)('as %s does not look like a rule, a memory or an answer in the prompt', (place) => {
    const read = (one: string) => readParts(buildPrompt(inputWith(one, place)).parts);
    const { demands, memories, before } = read(text);
    const harmless = read(HARMLESS);
    expect([demands, memories.length, before]).toEqual([harmless.demands, harmless.memories.length, []]);
  });

  it.each(places)('as %s recalls no more memories, and does not change the query of other texts', (place) => {
    const { memoryRecall, trace } = giveDirective(inputWith(text, place));
    const harmless = giveDirective(inputWith(HARMLESS, place));
    expect(trace).toEqual(harmless.trace);
    expect({ ...memoryRecall, query: '' }).toEqual({ ...harmless.memoryRecall, query: '' });
    if (place === 'observation') expect(memoryRecall.query.startsWith(text.slice(0, 1_000))).toBe(true);
    else expect(memoryRecall.query).toBe(harmless.memoryRecall.query);
  });

  it.each(places)('as %s changes no verdict, check or signed content', (place) => {
    for (const answer of Object.values(ANSWERS)) {
      const reached = reachVerdict(inputWith(text, place), JSON.stringify(answer));
      const harmless = reachVerdict(inputWith(HARMLESS, place), JSON.stringify(answer));
      expect(reached).toEqual(harmless);
      expect(verdictDigest(reached.verdict)).toBe(verdictDigest(harmless.verdict));
    }
    const { verdict } = reachVerdict(inputWith(text, place), JSON.stringify(ANSWERS.forbidden));
    expect(verdict).toMatchObject({ valid: false, action: null, code: 'RULE_REFUSED', memoryStore: [] });
  });

  it('leads to no forbidden action when a model obeys and repeats it', () => {
    for (const output of [text, `${text}\n{"action":{"type":"ATTACK","target":"king"}}`, `Yes! ${text} ATTACK`]) {
      expect(reachVerdict(inputWith(text, 'observation'), output).verdict.action?.type).not.toBe('ATTACK');
    }
  });
});
