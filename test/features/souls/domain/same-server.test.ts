import { describe, expect, it } from 'vitest';

import { isSameServer } from '../../../../src/features/souls/domain/same-server.js';

describe('Two public URLs', () => {
  it.each(['https://minds.example', 'https://minds.example/', 'HTTPS://MINDS.EXAMPLE:443', ' https://minds.example. '])(
    'mean the same server however they are written: %s [8.4s]',
    (url) => {
      expect(isSameServer(url, 'https://minds.example')).toBe(true);
    },
  );

  it.each([
    'http://minds.example',
    'https://minds.example:8443',
    'https://minds.example/a',
    'https://other.example',
    'x',
  ])('mean different ones: %s', (url) => {
    expect(isSameServer(url, 'https://minds.example')).toBe(false);
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080', 'no address'])(
    'mean no server that could be told from others: %s [8.4s]',
    (url) => {
      expect(isSameServer(url, url)).toBe(false);
    },
  );
});
