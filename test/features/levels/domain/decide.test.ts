import { describe, it } from 'vitest';

import { deleteLevel, putLevel } from '../../../../src/features/levels/domain/decide.js';
import { evolveLevel, initialLevel } from '../../../../src/features/levels/domain/state.js';
import { levelStream } from '../../../../src/kernel/base/stream-names.js';
import { givenOf } from '../../../support/given.js';
import { levelPut } from './events.js';

const given = givenOf({ initial: initialLevel, evolve: evolveLevel }, levelStream('studio', 'inn'));
const { version: _, ...content } = levelPut(1, 'one').data;
const put = (version: number, digest: string) => levelPut(version, digest);
const inn = { levelId: 'inn' };
const deleted = { type: 'LevelDeleted', data: { levelId: 'inn' } };

describe('a level', () => {
  it('gets a new version for each map that differs from the current one [9.7a]', () => {
    given()
      .when(putLevel, content)
      .then([put(1, 'one')]);
    given(put(1, 'one')).when(putLevel, content).then([]);
    given(put(1, 'one'))
      .when(putLevel, { ...content, digest: 'two' })
      .then([put(2, 'two')]);
    given(put(1, 'one'), put(2, 'two'))
      .when(putLevel, content)
      .then([put(3, 'one')]);
  });

  it('continues its version numbers after it was deleted, even for the same map', () => {
    given(put(1, 'one'), deleted)
      .when(putLevel, content)
      .then([put(2, 'one')]);
  });

  it('is deleted once', () => {
    given().when(deleteLevel, inn).then('LEVEL_NOT_FOUND', { levelId: 'inn' });
    given(put(1, 'one')).when(deleteLevel, inn).then([deleted]);
    given(put(1, 'one'), deleted).when(deleteLevel, inn).then('LEVEL_NOT_FOUND');
  });

  it('loses its versions once, even after it was deleted [9.7j]', () => {
    const all = { ...inn, versions: 'all' } as const;
    const gone = { type: 'LevelDeleted', data: all };
    given().when(deleteLevel, all).then('LEVEL_NOT_FOUND');
    given(put(1, 'one')).when(deleteLevel, all).then([gone]);
    given(put(1, 'one'), deleted).when(deleteLevel, all).then([gone]);
    given(put(1, 'one'), gone).when(deleteLevel, all).then([]);
    given(put(1, 'one'), gone)
      .when(putLevel, content)
      .then([put(2, 'one')]);
  });

  it('has a bounded number of versions [9.7f]', () => {
    given(put(9_999, 'one'))
      .when(putLevel, { ...content, digest: 'two' })
      .then([put(10_000, 'two')]);
    given(put(10_000, 'one'))
      .when(putLevel, { ...content, digest: 'two' })
      .then('LEVELS_FULL', { mostVersions: 10_000 });
    given(put(10_000, 'one')).when(putLevel, content).then([]);
  });
});
