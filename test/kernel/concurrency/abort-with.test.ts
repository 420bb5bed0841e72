import { describe, expect, it } from 'vitest';

import { abortWith } from '../../../src/kernel/concurrency/abort-with.js';
import { followersOf } from '../../support/signal-followers.js';

describe('A call that ends with other signals', () => {
  const open = () => [new AbortController(), new AbortController(), new AbortController()] as const;

  it('aborts with the first of them, and its reason', () => {
    const [call, one, other] = open();
    abortWith(call, one.signal, undefined, other.signal);
    expect(call.signal.aborted).toBe(false);
    other.abort('other');
    one.abort('one');
    expect(call.signal.reason).toBe('other');
  });

  it('aborts immediately if one has already aborted', () => {
    const [call, one, other] = open();
    other.abort('before');
    abortWith(call, one.signal, other.signal);
    expect(call.signal.reason).toBe('before');
    expect(followersOf(one.signal)).toBe(0);
  });

  it('leaves no listeners on the others once it has ended', () => {
    const [call, one, other] = open();
    const letGo = abortWith(call, one.signal, other.signal);
    expect([followersOf(one.signal), followersOf(other.signal)]).toEqual([1, 1]);
    letGo();
    expect([followersOf(one.signal), followersOf(other.signal)]).toEqual([0, 0]);
    one.abort('late');
    expect(call.signal.aborted).toBe(false);
  });
});
