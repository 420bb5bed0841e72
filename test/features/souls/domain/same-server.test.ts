import { describe, expect, it } from 'vitest';

import { isSameServer } from '../../../../src/features/souls/domain/same-server.js';

describe('two public URLs', () => {
  it.each(['https://minds.example', 'https://minds.example/', 'HTTPS://MINDS.EXAMPLE:443', ' https://minds.example. '])(
    'are the same server in any spelling: %s [8.4s]',
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
  ])('are different servers: %s', (url) => {
    expect(isSameServer(url, 'https://minds.example')).toBe(false);
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080', 'no address'])(
    'are no distinguishable server: %s [8.4s]',
    (url) => {
      expect(isSameServer(url, url)).toBe(false);
    },
  );
});
