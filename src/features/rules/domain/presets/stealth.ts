import type { RulesetContent } from '../ruleset.js';
import { incapacitated, moodsAndStatus } from './incapacitated.js';
import { presetRule as rule } from './preset-rule.js';

export const stealthPreset: RulesetContent = {
  rulesetId: 'stealth',
  template: 'Alpaca',
  grammar: 2,
  ruleRefusal: 'Not on my watch.',
  rulesetRules: [
    incapacitated,
    rule('raise-alarm', 'Raise the alarm', {
      ruleCondition: [
        ['alertLevel', '>=3'],
        // Once it is raised, the guard is free to do something about the intruder.
        ['alarmRaised', '!|false'],
      ],
      ruleAction: 'REQUIRE ALERT',
      ruleOnBreak: 'replace',
      ruleReason: 'With an intruder in sight, the alarm comes first.',
      ruleRefusal: 'Intruder! To me, to me! Sound the alarm!',
      rulePriority: 100,
      rulePromptSuffix: 'You have seen the intruder: raise the alarm.',
    }),
    rule('keep-post', 'Keep the post', {
      // A guard who was never told of anything is calm.
      ruleCondition: [
        ['alertLevel', '!|<1'],
        ['post', '*'],
      ],
      ruleAction: 'FORBID MOVE, FOLLOW, LEAVE',
      ruleReason: 'Without cause it does not leave its post.',
      ruleRefusal: 'I stay where I was put. Move along.',
      rulePriority: 60,
    }),
    rule('investigate', 'Something heard', {
      ruleCondition: [['alertLevel', '!|<3']],
      ruleObsPattern: '\\b(noise|sound|footsteps?|whistle|shadow|rustl\\w*|crash)\\b',
      ruleAction: 'wonder what it was and look for it',
      ruleReason: 'A noise wants a look.',
      rulePriority: 40,
      rulePromptSuffix: 'You heard or saw something: be watchful, and recall what was seen here before.',
    }),
    rule('dark', 'In the dark', {
      ruleCondition: [['context.light', 'dark|dim']],
      ruleAction: 'speak low and trust your ears',
      rulePriority: 10,
      rulePromptSuffix: 'It is dark: you recognise nobody by sight.',
    }),
  ],
  ruleState: [
    ...moodsAndStatus,
    { path: 'alertLevel', writer: 'game' },
    { path: 'alarmRaised', writer: 'game' },
    { path: 'post', writer: 'game' },
  ],
  observationChars: 3_449,
};
