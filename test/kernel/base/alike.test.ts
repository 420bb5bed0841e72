import { describe, expect, it } from 'vitest';

import { isAlike, isMisspelt } from '../../../src/kernel/base/alike.js';

describe('a name', () => {
  it.each([
    ['personality', 'persona'],
    ['result', 'lastResult'],
    ['last_result', 'lastResult'],
    ['OBSERVATION', 'observation'],
    ['observaton', 'observation'],
    ['identifyActorResult', 'IdentifyActorResult'],
    ['txid', 'txId'],
    ['texts', 'text'],
    ['presona', 'persona'],
    ['qurey', 'query'],
    ['dtaa', 'data'],
    ['sead', 'seed'],
  ])('%s is similar to %s', (written, known) => {
    expect(isAlike(written, known)).toBe(true);
  });

  it.each([
    ['mood', 'persona'],
    ['name', 'npcId'],
    ['it', 'id'],
    ['', 'persona'],
    ['__', 'persona'],
    ['id', 'npcId'],
    ['persona'.repeat(20), 'persona'],
  ])('%s is not similar to %s', (written, known) => {
    expect(isAlike(written, known)).toBe(false);
  });

  it.each([
    ['contxt', 'context'],
    ['Context', 'context'],
    ['rule_condition', 'ruleCondition'],
    ['rulePiorty', 'rulePriority'],
  ])('%s is a misspelling of %s', (written, known) => {
    expect(isMisspelt(written, known)).toBe(true);
  });

  it.each([
    ['playerStats', 'player'],
    ['stats', 'facts'],
    ['at', 'id'],
    ['', 'player'],
  ])('%s is another name than %s', (written, known) => {
    expect(isMisspelt(written, known)).toBe(false);
  });
});
