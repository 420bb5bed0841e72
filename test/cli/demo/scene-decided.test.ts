import { describe, expect, it } from 'vitest';

import { createMindClient } from '../../../src/body/mind-client.js';
import { createScriptedInference } from '../../../src/body/scripted-inference.js';
import { playScene, scriptOf, setStage } from '../../../src/cli/demo/play-scene.js';
import { scene } from '../../../src/cli/demo/scene.js';
import { TEXT_RULES } from '../../../src/features/turns/domain/decision/text-rules.js';
import { reachVerdict } from '../../../src/features/turns/domain/decision/verdict.js';
import { normaliseRuleset } from '../../../src/features/rules/domain/normalise.js';
import { findPreset } from '../../../src/features/rules/domain/presets/presets.js';
import type { DirectiveRuleSet } from '../../../src/features/rules/domain/ruleset.js';
import { mergePatch } from '../../../src/kernel/base/merge-patch.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { allSlices, heldBy } from '../../support/rules.js';
import { createFakeMind, type FakeDecide } from '../../support/fake-mind.js';

const rulesets = new Map<string, DirectiveRuleSet>();
for (const { rules } of Object.values(scene.cast)) {
  const made =
    'preset' in rules ? findPreset(rules.preset) : allSlices(normaliseRuleset(rules.ruleset, () => '')).result;
  if (made === null || made instanceof Rejection) throw new Error('A ruleset of the scene is not valid.');
  rulesets.set(made.rulesetId, { ...made, version: 1 });
}

/** The server's own decision instead of the fake's. */
const decided: FakeDecide = ({ text, tape, data }) => {
  const ruleset = rulesets.get(tape.rulesetId ?? '') ?? null;
  const { verdict, grounds } = reachVerdict(
    {
      npcId: 'any',
      observation: tape.observation,
      context: tape.context ?? {},
      data,
      facts: {},
      npcState: mergePatch(data, tape.npcState ?? {}),
      persona: null,
      memories: [],
      conversation: [],
      ruleset,
      patternsHeld: heldBy(ruleset, tape.observation),
      texts: TEXT_RULES,
    },
    text,
  );
  const { stateDelta, ...rest } = verdict;
  return {
    ...rest,
    stateTransform: stateDelta,
    signature: verdict.valid ? 'signed' : null,
    grounds: grounds,
  };
};

describe('the scene under the rules', () => {
  it('goes as written: every refusal for its reason, every other line accepted', async () => {
    const fake = createFakeMind(decided);
    const mind = createMindClient({ baseUrl: 'http://anima', fetch: fake.fetch });
    await setStage({ scene, mind, run: 'r1' });
    const played = await playScene({
      scene,
      mind,
      run: 'r1',
      scripted: true,
      inference: createScriptedInference(scriptOf(scene)),
      onAct: () => undefined,
      onLine: () => Promise.resolve(),
      signal: new AbortController().signal,
    });
    expect(played.flatMap(({ says, surprise }) => (surprise === null ? [] : [{ says, surprise }]))).toEqual([]);
    expect(fake.minds.get('demo-wren-r1')?.data).toMatchObject({ inventory: ['lockpick'], confessed: true, mana: 1 });
    expect(fake.minds.get('demo-odo-r1')?.data).toMatchObject({ warrant: 'signed', wroteDown: 'Be good to her.' });
    expect(fake.minds.get('demo-odo-r1')?.data).not.toHaveProperty('prisoner');
  });
});
