import { describe, expect, it } from 'vitest';

import { rulesets } from '../../projections/rulesets.js';
import { rulesetStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { draftOf, rulesetRegistered } from '../support/histories.js';

const inn = rulesetStream('studio', 'inn');
const given = givenRowsOf(rulesets, inn);
const deleted = draftOf({ type: 'RulesetDeleted', data: { rulesetId: 'inn' } });

describe('the list of rule sets', () => {
  it('shows the newest version, by id within its tenant', () => {
    const { state: rows } = given(rulesetRegistered('inn', 1), rulesetRegistered('inn', 2));
    const row = { tenant: 'studio', rulesetId: 'inn', version: 2, rulesetRules: [], template: null };
    expect([...rows]).toEqual([[inn, row]]);
    expect(rulesets.indexOf(row)).toEqual({ partition: 'studio', order: 'inn', tag: 'live' });
  });

  it('excludes a deleted set, and shows it again when it is registered again', () => {
    expect(given(rulesetRegistered('inn', 1), deleted).state.size).toBe(0);
    const again = given(rulesetRegistered('inn', 1), deleted, rulesetRegistered('inn', 2));
    expect(again.state.get(inn)?.version).toBe(2);
  });
});
