import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { Rejection, requestCodes } from '../../../src/kernel/base/rejection.js';

describe('the message of a refusal', () => {
  it('is a sentence outside HTTP as well', () => {
    for (const code of ['UNAUTHORIZED', 'SCHEMA_INVALID', 'NPC_NOT_FOUND'] as const)
      expect(new Rejection(code).message).toMatch(/^[A-Z].+ .+\.$/);
  });

  it('is given wherever code below the HTTP edge refuses with a code of a request', () => {
    const bare = new RegExp(`new Rejection\\('(?:${requestCodes.join('|')})'(?!, \\{\\s*message)`);
    const below = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/[\\/]http[\\/]/.test(file),
    );
    expect(below.length).toBeGreaterThan(100);
    expect(below.filter((file) => bare.test(readFileSync(join('src', file), 'utf8')))).toEqual([]);
  });
});
