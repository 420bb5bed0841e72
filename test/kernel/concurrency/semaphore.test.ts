import { describe, expect, it } from 'vitest';

import { Semaphore } from '../../../src/kernel/concurrency/semaphore.js';

const busy = expect.objectContaining({ code: 'BUSY', retryAfter: 1 }) as Error;

describe('A semaphore', () => {
  it('refuses callers over its permits until one is released', () => {
    const semaphore = new Semaphore(2);
    const release = semaphore.acquire();
    semaphore.acquire();
    expect(() => semaphore.acquire()).toThrow(busy);
    release();
    semaphore.acquire();
    expect(() => semaphore.acquire()).toThrow(busy);
  });

  it('gives one tenant only its share', () => {
    const semaphore = new Semaphore(3, 2);
    const release = semaphore.acquire('a');
    semaphore.acquire('a');
    expect(() => semaphore.acquire('a')).toThrow(busy);
    semaphore.acquire('b');
    expect(() => semaphore.acquire('c')).toThrow(busy);
    release();
    semaphore.acquire('c');
  });
});
