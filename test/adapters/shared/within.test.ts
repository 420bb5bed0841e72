import { describe, expect, it } from 'vitest';

import { inTime, within } from '../../../src/adapters/shared/within.js';

describe('a time limit for a promise', () => {
  const never = new Promise<string>(() => undefined);

  it('passes a result that arrives in time', async () => {
    expect(await within(60_000, Promise.resolve('done'))).toBe('done');
    expect(await inTime(60_000, Promise.resolve('done'), 'It')).toBe('done');
    await expect(within(60_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('returns null, or names what took longer', async () => {
    expect(await within(0, never)).toBeNull();
    await expect(inTime(0, never, 'Connecting')).rejects.toThrow('Connecting took longer than 0 ms.');
  });
});
