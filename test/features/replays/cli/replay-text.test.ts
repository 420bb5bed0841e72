import { describe, expect, it } from 'vitest';

import {
  type ReplayView,
  replayLines,
  sampleLines,
  type ShownSample,
} from '../../../../src/features/replays/cli/replay-text.js';
import type { Json } from '../../../../src/kernel/base/json.js';

const sample = (kind: string, npcId: string, was: Json = 1, would: Json = 2): ShownSample => ({
  kind,
  npcId,
  turnId: `turn-of-${npcId}`,
  revision: 3,
  was,
  would,
});

const trial = (differences: Readonly<Record<string, number>>, samples: ShownSample[]): ReplayView => ({
  replayId: 'r',
  status: 'completed',
  trial: true,
  startedAt: '2026-01-01T00:00:00.000Z',
  progress: 1,
  minds: 3,
  unknown: [],
  decisions: 9,
  turns: { checked: 9, equal: 0, different: 9, skipped: 0 },
  skipped: {},
  differences,
  rules: [],
  samples,
});

describe('the text output of a trial', () => {
  it('begins with refusals and permissions, whatever the names of the NPCs are', () => {
    const samples = [sample('otherPrompt', 'anna'), sample('newlyAllowed', 'odo'), sample('newlyRefused', 'tomas')];
    const lines = replayLines(trial({ otherPrompt: 1, newlyAllowed: 1, newlyRefused: 1 }, samples), 2);
    expect(lines.filter((line) => line.includes('turn-of'))).toEqual([
      'newlyRefused: tomas turn-of-tomas (revision 3)',
      'newlyAllowed: odo turn-of-odo (revision 3)',
    ]);
  });

  it('shows apart what the current logic changes, whatever the rules are [10.3t]', () => {
    const byLogic = { decisions: 2, samples: [sample('otherAction', 'odo')] };
    const lines = replayLines({ ...trial({ newlyRefused: 1 }, [sample('newlyRefused', 'mira')]), byLogic }, 10);
    const at = lines.findIndex((line) => line.startsWith('By the current logic, 2 decisions differ from the record'));
    expect(at).toBeGreaterThan(lines.findIndex((line) => line.startsWith('newlyRefused: mira')));
    expect(lines.slice(at + 1)).toEqual(sampleLines(sample('otherAction', 'odo')));
    const none = replayLines({ ...trial({}, []), byLogic: { decisions: 0, samples: [] } }, 10);
    expect(none.join('\n')).not.toContain('logic');
  });

  it('counts errors only if a rule has some', () => {
    const rule = {
      ...{ rulesetId: 'inn', drRuleId: 'poor', matched: { was: 0, would: 1 }, decided: 0, shadowed: 0, errors: 0 },
      samples: { fired: [], decided: [], shadowed: [] },
    };
    const tableOf = (errors: number) =>
      replayLines({ ...trial({}, []), rules: [{ ...rule, errors }] }, 0).filter((line) => /^RULE|poor/.test(line));
    expect(tableOf(0)[0]).toMatch(/SHADOWED *$/);
    expect(tableOf(3)[0]).toMatch(/SHADOWED +ERRORS *$/);
    expect(tableOf(3)[1]).toMatch(/^inn poor +0 +1 +0 +0 +3 *$/);
  });

  it('counts the turns, and the histories that were read for them', () => {
    const many = { ...trial({}, []), minds: 31, turns: { checked: 1_204, equal: 1_204, different: 0, skipped: 0 } };
    const one = { ...trial({}, []), minds: 1, turns: { checked: 1, equal: 1, different: 0, skipped: 0 } };
    expect(replayLines(many, 0)[0]).toMatch(/^completed: 1,204 turns in 31 histories, 1,204 equal,/);
    expect(replayLines(one, 0)[0]).toMatch(/^completed: 1 turn in 1 history, 1 equal,/);
    expect(replayLines({ ...many, concerned: 2 }, 0)[0]).toContain(' in 2 of 31 histories, ');
  });

  it('names what could not be made again, and which minds were set aside [10.3p, 10.3v]', () => {
    const notReplayed = [{ npcId: 'mira', turnId: 't1', revision: 4, reason: 'turn' as const }];
    const setAside = { minds: 1, named: [{ npcId: 'odo', reason: 'Damaged.' }] };
    const lines = replayLines({ ...trial({}, []), notReplayed, setAside }, 0);
    expect(lines).toContain('not replayed: mira t1 (revision 4): the opening of its turn is not before it');
    expect(lines).toContain('set aside: odo: Damaged.');
  });

  it('names the NPCs of each kind, and marks an incomplete list', () => {
    const samples = [sample('newlyRefused', 'mira'), sample('newlyRefused', 'mira'), sample('otherPrompt', 'odo')];
    const lines = replayLines(trial({ newlyRefused: 2, otherPrompt: 40 }, samples), 0);
    expect(lines).toContain('  newlyRefused  2      mira');
    expect(lines).toContain('  otherPrompt   40     odo, …');
  });

  it('shows which rule refuses, and why, and what the player hears only if that is all that differs', () => {
    const refused = (drRuleId: string, dialogue: string) => ({
      ...{ valid: false, code: 'RULE_REFUSED', reason: `The ${drRuleId} says no.`, dialogue },
      details: { drRuleId },
    });
    expect(
      sampleLines(sample('otherReason', 'mira', refused('floor', 'No.'), refused('night', 'No.'))).slice(1),
    ).toEqual([
      '  was:   refused by floor: The floor says no. (RULE_REFUSED)',
      '  would: refused by night: The night says no. (RULE_REFUSED)',
    ]);
    expect(sampleLines(sample('otherReason', 'mira', refused('floor', 'No.'), refused('floor', 'Never.')))[2]).toBe(
      '  would: refused by floor: The floor says no. (RULE_REFUSED), saying "Never."',
    );
    const older = { valid: false, code: 'ACTION_UNKNOWN', dialogue: 'No.' };
    expect(sampleLines(sample('newlyRefused', 'mira', 1, older))[2]).toBe('  would: refused: No. (ACTION_UNKNOWN)');
  });

  it('shows long prompts from their first difference, and recalls in words', () => {
    const prompt = (end: string) => ({ instruction: { prompt: `${'Who you are. '.repeat(40)}${end}` } });
    const [, was, would] = sampleLines(sample('otherPrompt', 'mira', prompt('No gifts.'), prompt('Be kind.')));
    expect(was).toContain('No gifts.');
    expect(would).toContain('Be kind.');
    const recall = (query: string) => ({ instruction: { query, limit: 5, threshold: 0.5 } });
    expect(sampleLines(sample('otherRecall', 'mira', recall('a'), recall('b')))[1]).toBe('  was:   recall 5 by "a"');
  });
});
