import { describe, expect, it } from 'vitest';

import { createClosers } from '../../src/profiles/closers.js';

/** Resources that record when they are closed. */
const things = () => {
  const closed: string[] = [];
  return {
    closed,
    thing: (name: string): Disposable => ({ [Symbol.dispose]: () => void closed.push(name) }),
    slow: (name: string): AsyncDisposable => ({
      [Symbol.asyncDispose]: async () => {
        await Promise.resolve();
        closed.push(name);
      },
    }),
    failing: (name: string): AsyncDisposable => ({
      [Symbol.asyncDispose]: () => Promise.reject(new Error(`${name} will not close`)),
    }),
  };
};

describe('opened resources', () => {
  it('are returned unchanged, and closed in reverse order, one after the other', async () => {
    const { closed, thing, slow } = things();
    const closers = createClosers();
    const first = thing('first');
    expect(closers.opened(first)).toBe(first);
    closers.opened(slow('second'));
    closers.opened(thing('third'));
    await closers[Symbol.asyncDispose]();
    expect(closed).toEqual(['third', 'second', 'first']);
  });

  it('are all closed despite a failure, and the first failure is thrown at the end', async () => {
    const { closed, thing, failing } = things();
    const closers = createClosers();
    closers.opened(thing('first'));
    closers.opened(failing('second'));
    closers.opened(failing('third'));
    await expect(closers[Symbol.asyncDispose]()).rejects.toThrow('third will not close');
    expect(closed).toEqual(['first']);
  });

  it('are closed once, however often that is requested', async () => {
    const { closed, thing } = things();
    const closers = createClosers();
    closers.opened(thing('only'));
    await Promise.all([closers[Symbol.asyncDispose](), closers[Symbol.asyncDispose]()]);
    expect(closed).toEqual(['only']);
  });
});
