import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { onFiles, writeWhole } from '../../../src/adapters/embedded/archive-files.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error('no'), { code }));

describe('the files of the archive', () => {
  it.each([
    ['ENOSPC', 'STORE_FULL', 5],
    ['EDQUOT', 'STORE_FULL', 5],
    ['EIO', 'STORE_UNAVAILABLE', 1],
    ['EMFILE', 'STORE_UNAVAILABLE', 1],
  ])('refuse a write when the system reports %s: %s', async (code, refusal, retryAfter) => {
    const refused: unknown = await onFiles(failing(code)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({ code: refusal, retryAfter });
  });

  it('do not hide a programming error', async () => {
    const defect = new TypeError('a defect');
    await expect(onFiles(() => Promise.reject(defect))).rejects.toBe(defect);
  });

  it('leave nothing behind when a file cannot be moved to its final path', async () => {
    await using directory = await temporaryDirectory();
    const to = join(directory.path, 'missing', 'file');
    await expect(writeWhole(to, join(directory.path, 'unfinished'), Buffer.from('x'))).rejects.toThrow('ENOENT');
    expect(await readdir(directory.path)).toEqual([]);
  });
});
