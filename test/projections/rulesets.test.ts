import { describe, expect, it } from 'vitest';

import { rulesets } from '../../projections/rulesets.js';
import { rulesetStream } from '../../src/domain/shared/stream-names.js';
import { emitted, recorded, rulesetRegistered } from '../support/histories.js';
import { rowsOf } from './fold.js';

const inn = rulesetStream('studio', 'inn');
const deleted = emitted({ type: 'RulesetDeleted', data: { rulesetId: 'inn' } });

describe('The list of rule sets', () => {
  it('shows the newest version, by id within its tenant', () => {
    const rows = rowsOf(rulesets, recorded(inn, [rulesetRegistered('inn', 1), rulesetRegistered('inn', 2)]));
    const row = { tenant: 'studio', rulesetId: 'inn', version: 2, rulesetRules: [], template: null };
    expect([...rows]).toEqual([[inn, row]]);
    expect(rulesets.indexOf(row)).toEqual({ partition: 'studio', order: 'inn', tag: 'live' });
  });

  it('leaves out a set that was deleted, and shows it again when it is registered again', () => {
    expect(rowsOf(rulesets, recorded(inn, [rulesetRegistered('inn', 1), deleted])).size).toBe(0);
    const again = rowsOf(rulesets, recorded(inn, [rulesetRegistered('inn', 1), deleted, rulesetRegistered('inn', 2)]));
    expect(again.get(inn)?.version).toBe(2);
  });
});
