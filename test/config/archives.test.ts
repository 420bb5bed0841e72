import { describe, expect, it } from 'vitest';

import { parseConfig } from '../../src/config/config.js';
import { filesOf, problemsOf } from './problems-of.js';

const { isThere, read } = filesOf({ '/run/token': 'upload-only\n', '/run/two': 'two words' });
const parse = (env: Record<string, string>) => parseConfig(env, '/srv', isThere, read).archives;
const problems = problemsOf(parse);

const kid = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';
const bundler = {
  ARWEAVE_BUNDLER_URL: 'https://bundler.example/tx',
  ARWEAVE_BUNDLER_KEY_FILE: '/run/token',
  ARWEAVE_GATEWAY_URL: 'https://arweave.example',
};

describe('the settings of archives', () => {
  it('are empty by default', () => {
    expect(parse({})).toEqual({
      ipfsApiUrl: null,
      ipfsGateway: null,
      arweaveGateway: null,
      bundler: null,
      gateways: [],
      soulTrust: null,
    });
  });

  it('are an IPFS node, gateways, a bundler, and trusted keys', () => {
    expect(
      parse({
        ...bundler,
        IPFS_API_URL: 'http://ipfs:5001/',
        IPFS_GATEWAY_URL: 'https://ipfs.example/ipfs/',
        ANIMA_SOUL_TRUST: `${kid}, ${kid}`,
      }),
    ).toEqual({
      ipfsApiUrl: 'http://ipfs:5001',
      ipfsGateway: { url: 'https://ipfs.example/ipfs', isPrivate: false },
      arweaveGateway: { url: 'https://arweave.example', isPrivate: false },
      bundler: { url: 'https://bundler.example/tx', token: 'upload-only' },
      gateways: [],
      soulTrust: new Set([kid]),
    });
  });

  it.each([
    ['https://minds.example/archive', false],
    ['http://minds.example:8080', false],
    ['private+http://minds:8080/archive', true],
    ['http://127.0.0.1:8080/archive', true],
    ['http://[::1]:8080', true],
    ['https://10.0.0.7', true],
    ['http://localhost:8080', true],
    ['http://a.localhost', true],
    ['https://localhost.example', false],
    ['https://10.0.0.7.example', false],
  ])('define for the gateway %s whether its host may be private: %j [8.5p]', (url, isPrivate) => {
    const address = { url: url.replace('private+', ''), isPrivate };
    expect(parse({ ANIMA_SOUL_GATEWAYS: `https://one.example ${url},` }).gateways[1]).toEqual(address);
    expect(parse({ ARWEAVE_GATEWAY_URL: url }).arweaveGateway).toEqual(address);
  });

  it.each([
    ['not a URL', { IPFS_API_URL: 'ipfs:5001' }, [/^IPFS_API_URL must/]],
    [
      'the path of its API',
      { IPFS_API_URL: 'http://ipfs:5001/api/v0/' },
      [/^IPFS_API_URL must not end in "\/api\/v0"\. .* http:\/\/127\.0\.0\.1:5001\.$/],
    ],
    ['a password', { IPFS_GATEWAY_URL: 'https://a:hidden@b' }, [/^IPFS_GATEWAY_URL must/]],
    ['another protocol', { ARWEAVE_GATEWAY_URL: 'ar://x' }, [/^ARWEAVE_GATEWAY_URL must/]],
    ['a host alone', { ANIMA_SOUL_GATEWAYS: 'minds.example' }, [/^ANIMA_SOUL_GATEWAYS must/]],
    ['one wrong of two', { ANIMA_SOUL_GATEWAYS: 'https://a, file:///b' }, [/^ANIMA_SOUL_GATEWAYS must/]],
    ['too many', { ANIMA_SOUL_GATEWAYS: 'https://a '.repeat(17) }, [/^ANIMA_SOUL_GATEWAYS must be up to 16/]],
    ['no thumbprint', { ANIMA_SOUL_TRUST: `${kid} ${kid}x` }, [/^ANIMA_SOUL_TRUST must .* not ".*x"\.$/]],
    ['no gateway', { ...bundler, ARWEAVE_GATEWAY_URL: '' }, [/^ARWEAVE_BUNDLER_URL also requires ARWEAVE_GATEWAY_URL/]],
    [
      'no token',
      { ...bundler, ARWEAVE_BUNDLER_KEY_FILE: '' },
      [/^ARWEAVE_BUNDLER_URL also requires ARWEAVE_BUNDLER_KEY_FILE/],
    ],
    [
      'two words',
      { ...bundler, ARWEAVE_BUNDLER_KEY_FILE: '/run/two' },
      [/^ARWEAVE_BUNDLER_KEY must consist of visible/],
    ],
    ['no file', { ...bundler, ARWEAVE_BUNDLER_KEY_FILE: '/run/no' }, [/^ARWEAVE_BUNDLER_KEY_FILE names \/run\/no/]],
    [
      'a token alone',
      { ARWEAVE_BUNDLER_KEY_FILE: '/run/token' },
      [/^ARWEAVE_BUNDLER_KEY also requires ARWEAVE_BUNDLER_URL/],
    ],
  ])('fail the start, without showing a secret: %s', (_, env, expected) => {
    const found = problems(env);
    expect(found).toHaveLength(expected.length);
    for (const [at, problem] of expected.entries()) expect(found[at]).toMatch(problem);
    expect(found.join()).not.toMatch(/hidden|two words/);
  });
});
