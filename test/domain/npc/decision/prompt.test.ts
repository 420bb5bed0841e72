import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { giveDirective } from '../../../../src/domain/npc/decision/directive.js';
import { guardText } from '../../../../src/domain/npc/decision/guard-text.js';
import { buildPrompt } from '../../../../src/domain/npc/decision/prompt.js';
import { templates, type Template } from '../../../../src/domain/rules/ruleset.js';
import { jcs, type Json } from '../../../../src/domain/shared/json.js';
import { anInput, aRuleset } from '../../../support/rules.js';

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

describe('the directive', () => {
  it('asks for the observation, five memories, from one half on, when nothing matches', () => {
    const expected = { query: 'A stranger enters.', limit: 5, threshold: 0.5 };
    expect(giveDirective(anInput()).memoryRecall).toEqual(expected);
    const ruleset = aRuleset([{ ruleObsPattern: 'dragon', ruleAction: 'FLEE' }]);
    expect(giveDirective(anInput({ ruleset })).memoryRecall).toEqual(expected);
  });

  it('puts what the matching rules are about behind the observation, and asks for more', () => {
    const ruleset = aRuleset([
      { ruleName: 'strangers', ruleObsPattern: 'stranger', ruleReason: 'Trust nobody.', rulePriority: 1 },
      { ruleName: 'intruders', ruleObsPattern: 'enters', ruleTarget: 'gate', rulePriority: 2 },
    ]);
    const { memoryRecall, rules } = giveDirective(anInput({ ruleset }));
    expect(memoryRecall).toEqual({
      query: 'A stranger enters.\nintruders gate strangers Trust nobody.',
      limit: 7,
      threshold: 0.5,
    });
    expect(rules.map(({ matched }) => matched)).toEqual([true, true]);
  });

  it('bounds what rules add', () => {
    const ruleset = aRuleset(
      Array.from({ length: 50 }, (_, index) => ({ ruleName: `rule ${index}`.repeat(9), ruleAction: 'A' })),
    );
    const { query, limit } = giveDirective(anInput({ ruleset })).memoryRecall;
    expect(limit).toBe(10);
    expect(query.length).toBeLessThan(600);
  });
});

describe('the prompt', () => {
  const memories = [{ text: 'The player stole a ruby.', type: 'observation', importance: 1, similarity: 0.9 }];
  const full = (template: Template | null) =>
    anInput({
      npcState: { hp: 3 },
      context: { place: 'gate' },
      memories,
      ruleset: aRuleset(
        [
          { ruleAction: 'FLEE', ruleTarget: 'tower', ruleReason: 'Too weak.', rulePromptSuffix: 'You tremble.' },
          { ruleAction: 'FORBID ATTACK', ruleReason: 'No blood.' },
          { ruleAction: 'speak softly', rulePromptSuffix: 'It is night.', rulePriority: 5 },
          { ruleObsPattern: 'dragon', ruleAction: 'X', rulePromptSuffix: 'Never shown.' },
        ],
        template,
      ),
    });

  it.each([null, ...templates])(
    'in %s holds persona, state, context, memories, observation and every suffix of a match',
    (template) => {
      const { prompt } = buildPrompt(full(template));
      for (const part of [
        'A watchful guard.',
        '{"hp":3}',
        '{"place":"gate"}',
        'The player stole a ruby.',
        'A stranger enters.',
        'You tremble.',
        'It is night.',
        'Your action must be FLEE at tower (Too weak.).',
        'ATTACK is forbidden (No blood.).',
        'speak softly',
      ]) {
        expect(prompt).toContain(part);
      }
      expect(prompt).not.toContain('Never shown.');
      expect(prompt.indexOf('It is night.')).toBeLessThan(prompt.indexOf('You tremble.'));
    },
  );

  it('is Raw without a template, and without a ruleset', () => {
    expect(buildPrompt(full(null)).prompt).toBe(buildPrompt(full('Raw')).prompt);
    expect(buildPrompt(anInput()).ctxMessages).toBeNull();
  });

  it.each<[Template, string, string]>([
    ['ChatML', '<|im_start|>system\n', '<|im_end|>\n<|im_start|>assistant\n'],
    [
      'Llama3',
      '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n',
      '<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
    ],
    ['Alpaca', '### Instruction:\n', '\n\n### Response:\n'],
  ])('of %s is formatted from its messages', (template, start, end) => {
    const { prompt, ctxMessages } = buildPrompt(full(template));
    expect(prompt.startsWith(start)).toBe(true);
    expect(prompt.endsWith(end)).toBe(true);
    expect(ctxMessages?.map(({ role }) => role)).toEqual(['system', 'user']);
    for (const { content } of ctxMessages ?? []) expect(prompt).toContain(content);
  });

  it.each<[Template, readonly string[] | undefined]>([
    ['Raw', undefined],
    ['ChatML', ['<|im_end|>']],
    ['Llama3', ['<|eot_id|>']],
    ['Alpaca', ['### Instruction:', '### Input:']],
  ])('of %s says how to answer and where it ends', (template, stop) => {
    expect(buildPrompt(full(template)).constraints).toEqual({
      maxTokens: expect.any(Number),
      temperature: expect.any(Number),
      ...(stop === undefined ? {} : { stop }),
    });
  });

  it('traces the rules', () => {
    expect(buildPrompt(full('Raw')).rules.map(({ matched }) => matched)).toEqual([true, true, true, false]);
  });

  it('stays readable by a model however much it is given', () => {
    const long = 'x'.repeat(500_000);
    const { prompt } = buildPrompt(
      anInput({
        observation: long,
        persona: long,
        npcState: { long },
        context: { long },
        memories: Array.from({ length: 100 }, () => ({
          text: long,
          type: 'observation',
          importance: 1,
          similarity: 1,
        })),
      }),
    );
    expect(prompt.length).toBeLessThan(70_000);
  });
});

describe('texts that would end their message', () => {
  const marks = [
    '<|im_end|>',
    '<|im_start|>system',
    '<|eot_id|>',
    '<|start_header_id|>',
    '<|begin_of_text|>',
    '<｜end▁of▁sentence｜>',
    '### Instruction:',
    '####### Response:',
    '<s>',
    '</s>',
    '[INST]',
    '[/inst]',
    '<<SYS>>',
    '<end_of_turn>',
  ];
  const control = /<[|｜]|[|｜]>|###|<\/?s>|\[\/?inst\]|<<sys|<(?:start|end)_of_turn>/i;

  it.each(marks)('%s is pulled apart', (mark) => {
    expect(guardText(`a${mark}b`)).not.toMatch(control);
  });

  it.each(['I am 5 < 6 and 7 > 3', '# a title', '## b', 'a | b', '[x]', '<sigh>', 'ça va ? 😀'])(
    '%s stays as it is',
    (text) => {
      expect(guardText(text)).toBe(text);
    },
  );

  const piece = fc.oneof(
    fc.constantFrom(...marks, '<', '|', '>', '#', '##', '/', 's', '[', ']', 'INST', '\n', '\ud800'),
    fc.string(),
  );
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const structure: readonly [Template, string, number][] = [
    ['ChatML', '<|im_start|>', 3],
    ['ChatML', '<|im_end|>', 2],
    ['Llama3', '<|start_header_id|>', 3],
    ['Llama3', '<|eot_id|>', 2],
    ['Alpaca', '###', 3],
  ];

  it('leave every template its own marks alone, from wherever they come', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (one, two, three) => {
        for (const [template, mark, count] of structure) {
          const { prompt, ctxMessages } = buildPrompt(
            anInput({
              observation: one,
              persona: two,
              npcState: { [three]: one },
              context: { said: three },
              memories: [{ text: two, type: 'observation', importance: 1, similarity: 1 }],
              ruleset: aRuleset([{ ruleAction: one, ruleReason: two, rulePromptSuffix: three }], template),
            }),
          );
          expect(occurrences(prompt, mark)).toBe(count);
          for (const { content } of ctxMessages ?? []) expect(content).not.toMatch(control);
        }
      }),
    );
  });
});

describe('one input', () => {
  it('makes one directive and one prompt, byte for byte, which can be recorded', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        text,
        fc.dictionary(fc.string(), json),
        json,
        fc.constantFrom(...templates),
        (observation, npcState, context, template) => {
          const input = () =>
            anInput({
              observation: observation.replace(/\p{Surrogate}/gu, ''),
              npcState,
              context,
              ruleset: aRuleset(
                [{ ruleCondition: [['a', '*']], ruleAction: 'A' }, { ruleAction: 'be kind' }],
                template,
              ),
            });
          const decided = () => jcs([giveDirective(input()), buildPrompt(input())]);
          expect(decided()).toBe(decided());
        },
      ),
    );
  });
});
