import type { DirectiveRule, RulesetContent, Template } from '../ruleset.js';
import { presetRule as rule } from './preset-rule.js';

const preset = (
  rulesetId: string,
  template: Template,
  rulesetRules: readonly DirectiveRule[],
): readonly [string, RulesetContent] => [rulesetId, { rulesetId, template, rulesetRules }];

const incapacitated = rule('incapacitated', 'Asleep or unconscious', {
  ruleCondition: [['status', 'asleep|unconscious|stunned']],
  ruleAction: 'FORBID *',
  ruleReason: 'It cannot act in this condition.',
  rulePriority: 1_000,
});

/** The presets of the first release. Recorded decisions name them by version 0, and their replays need them, so they never change. */
export const firstPresets: ReadonlyMap<string, RulesetContent> = new Map([
  preset('default', 'Raw', [
    incapacitated,
    rule('wounded', 'Badly wounded', {
      ruleCondition: [['hp', '<25']],
      ruleAction: 'avoid every fight and look for help',
      ruleReason: 'Wounds make it careful.',
      rulePriority: 50,
      rulePromptSuffix: 'You are badly wounded: speak with effort and stay out of danger.',
    }),
    rule('theft', 'Theft', {
      ruleObsPattern: '\\b(steal|steals|stole|stolen|stealing|thief|thieves|rob|robs|robbed|pickpocket)\\b',
      ruleAction: 'react to the theft as your character would',
      ruleReason: 'Theft is remembered.',
      rulePriority: 40,
      rulePromptSuffix: 'Something is being stolen: recall who was wronged before.',
    }),
    rule('greeting', 'A greeting', {
      ruleObsPattern: '\\b(hello|hi|greetings|good (morning|day|evening))\\b',
      ruleAction: 'answer the greeting',
      rulePriority: 10,
      rulePromptSuffix: 'Greet in the tone of your mood.',
    }),
  ]),
  preset('social', 'ChatML', [
    incapacitated,
    rule('no-violence', 'No violence', {
      ruleAction: 'FORBID ATTACK',
      ruleReason: 'Here things are settled with words.',
      rulePriority: 100,
    }),
    rule('insulted', 'An insult', {
      ruleObsPattern: '\\b(idiot|fool|coward|liar|stupid|ugly)\\b',
      ruleAction: 'show that the insult hurts, and set a limit',
      ruleReason: 'An insult is answered, not swallowed.',
      rulePriority: 60,
      rulePromptSuffix: 'You were insulted.',
    }),
    rule('hostile', 'Hostile mood', {
      ruleCondition: [['mood', 'hostile|suspicious']],
      ruleAction: 'refuse favours politely',
      ruleReason: 'Trust comes first.',
      rulePriority: 30,
      rulePromptSuffix: 'You do not trust the one you talk to: give away nothing.',
    }),
    rule('friendly', 'Friendly mood', {
      ruleCondition: [['mood', 'friendly|loyal']],
      ruleAction: 'help where it costs little',
      rulePriority: 20,
      rulePromptSuffix: 'You like the one you talk to.',
    }),
  ]),
  preset('rpg', 'Llama3', [
    incapacitated,
    rule('friendly-fire', 'No attack on friends', {
      ruleCondition: [
        ['action.type', 'ATTACK'],
        ['relation', 'friend|ally'],
      ],
      ruleAction: 'FORBID ATTACK',
      ruleReason: 'It does not raise a hand against friends.',
      rulePriority: 200,
    }),
    rule('silenced', 'No magic under silence', {
      ruleCondition: [['effects', 'silence|silenced']],
      ruleAction: 'FORBID CAST',
      ruleReason: 'Under silence no spell can be spoken.',
      rulePriority: 150,
    }),
    rule('flee', 'Flee when nearly dead', {
      ruleCondition: [
        ['hp', '>0'],
        ['hp', '<=10'],
        ['context.combat', 'true'],
      ],
      ruleAction: 'FLEE',
      ruleReason: 'So badly wounded, it only wants to get away.',
      rulePriority: 120,
      rulePromptSuffix: 'You are nearly dead: flee.',
    }),
    rule('quest', 'Talk of a quest', {
      ruleObsPattern: '\\b(quest|task|reward|bounty|mission)s?\\b',
      ruleAction: 'speak of the quests that you know',
      rulePriority: 20,
      rulePromptSuffix: 'Recall which quests you gave and how they ended.',
    }),
    rule('trade', 'Talk of trade', {
      ruleObsPattern: '\\b(buy|sell|trade|price|gold|coin)s?\\b',
      ruleAction: 'bargain within your means',
      rulePriority: 10,
      rulePromptSuffix: 'Offer only what you own.',
    }),
  ]),
  preset('stealth', 'Alpaca', [
    incapacitated,
    rule('raise-alarm', 'Raise the alarm', {
      ruleCondition: [['alertLevel', '>=3']],
      ruleAction: 'ALERT',
      ruleReason: 'With an intruder in sight, the alarm comes first.',
      rulePriority: 100,
      rulePromptSuffix: 'You have seen the intruder: raise the alarm.',
    }),
    rule('keep-post', 'Keep the post', {
      ruleCondition: [
        ['alertLevel', '<1'],
        ['post', '*'],
      ],
      ruleAction: 'FORBID MOVE',
      ruleReason: 'Without cause it does not leave its post.',
      rulePriority: 60,
    }),
    rule('investigate', 'Something heard', {
      ruleCondition: [['alertLevel', '<3']],
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
  ]),
]);
