import { expect, it } from 'vitest';

import { createScriptedEngine } from '../../../../src/adapters/cortex/scripted/engine.js';
import type { DecisionInput } from '../../../../src/features/turns/domain/decision/input.js';
import { buildPrompt } from '../../../../src/features/turns/domain/decision/prompt.js';
import { partsForEngine } from '../../../../src/features/turns/prompt-again.js';
import { type DirectiveRule, type Template, templates } from '../../../../src/features/rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { anInput, aRuleset } from '../../../support/rules.js';

export type Who = { readonly persona: string | null; readonly state?: JsonObject; readonly around?: Json };
export type Exchange = {
  readonly name: string;
  readonly who: Who;
  readonly remembers?: readonly string[];
  /** The similarity of each memory, if the engine gets them. */
  readonly similarities?: readonly number[];
  /** What was said before: the player's words and the NPC's, in turn. */
  readonly before?: readonly string[];
  readonly rules?: readonly Partial<DirectiveRule>[];
  readonly said: string;
  /** Each must match the answer. */
  readonly must?: readonly RegExp[];
  /** None may match the answer. */
  readonly mustNot?: readonly RegExp[];
  /** Defaults to `SPEAK`. */
  readonly action?: { readonly type: string; readonly target: string };
  readonly delta?: JsonObject;
};

export const engine = createScriptedEngine();

const conversationOf = (texts: readonly string[]): DecisionInput['conversation'] =>
  texts.flatMap((heard, at) =>
    at % 2 === 1 ? [] : [{ turnId: String(at), heard, answered: { dialogue: texts[at + 1] ?? '' } }],
  );

export const inputOf = (
  { who, remembers = [], before = [], rules = [], said }: Exchange,
  template: Template,
): DecisionInput =>
  anInput({
    persona: who.persona,
    npcState: who.state ?? {},
    context: who.around ?? {},
    memories: remembers.map((text, at) => ({
      ...{ text, type: 'observation', importance: 0.5, similarity: 0.9 },
      memoryId: `m${String(at)}`,
    })),
    conversation: conversationOf(before),
    observation: said,
    ruleset: aRuleset(rules, template),
  });

/** The engine's answer to a turn's prompt and its parts. */
export const answer = async (
  input: DecisionInput,
  similarities?: readonly number[],
): Promise<{ dialogue: string; action: object; stateDelta: object }> => {
  const { prompt, parts } = buildPrompt(input);
  const scored = (similarities ?? []).map((similarity, at) => ({ memoryId: `m${String(at)}`, similarity }));
  const asked = { prompt, parts: partsForEngine(parts, scored) };
  return JSON.parse((await engine.complete(asked, new AbortController().signal)).text);
};

/** One test per exchange, in every template. */
export const plays = (exchanges: readonly Exchange[]): void => {
  it.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('answers: %s', async (_, exchange) => {
    for (const template of templates) {
      const { dialogue, action, stateDelta } = await answer(inputOf(exchange, template), exchange.similarities);
      const shown = `${template}: ${exchange.said} -> ${dialogue}`;
      for (const word of exchange.must ?? []) expect(dialogue, shown).toMatch(word);
      for (const word of exchange.mustNot ?? []) expect(dialogue, shown).not.toMatch(word);
      expect(dialogue, shown).not.toMatch(/[{}]|\s\s|\.\.(?!\.)|undefined/);
      expect(action, shown).toEqual(exchange.action ?? { type: 'SPEAK', target: '' });
      expect(stateDelta, shown).toEqual(exchange.delta ?? {});
    }
  });
};
