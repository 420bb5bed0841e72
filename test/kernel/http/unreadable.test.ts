import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { answerUnreadable } from '../../../src/kernel/http/unreadable.js';

describe('answerUnreadable', () => {
  it('adds one listener to requests, however many are late at the same time', () => {
    const server = createServer();
    answerUnreadable(server, () => 'r1');
    const before = server.listenerCount('request');
    for (let late = 0; late < 20; late += 1) {
      const error = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      server.emit('clientError', error, new PassThrough());
    }
    expect(server.listenerCount('request')).toBe(before);
  });
});
