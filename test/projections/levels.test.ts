import { describe, expect, it } from 'vitest';

import { levels } from '../../projections/levels.js';
import { levelStream } from '../../src/kernel/base/stream-names.js';
import { levelPut } from '../features/levels/domain/events.js';
import { givenRowsOf } from '../support/given.js';

const inn = levelStream('studio', 'inn');
const given = givenRowsOf(levels, inn);
const deleted = { type: 'LevelDeleted', data: { levelId: 'inn' } };

describe('the list of levels', () => {
  it('shows the newest version and when it was put, by id within its tenant', () => {
    const { state: rows, events } = given(levelPut(1, 'one'), levelPut(2, 'two'));
    const { bytes: _, warnings: __, ...put } = levelPut(2, 'two').data;
    const row = { ...put, tenant: 'studio', updatedAt: events[1]?.meta.at ?? '' };
    expect([...rows]).toEqual([[inn, row]]);
    expect(levels.indexOf(row)).toEqual({ partition: 'studio', order: 'inn', tag: 'live' });
  });

  it('excludes a deleted level, and shows it again when it is put again', () => {
    expect(given(levelPut(1, 'one'), deleted).state.size).toBe(0);
    expect(given(levelPut(1, 'one'), deleted, levelPut(2, 'one')).state.get(inn)?.version).toBe(2);
  });
});
