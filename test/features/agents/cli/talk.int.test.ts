import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await openEmbeddedServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('anima talk', () => {
  const talk = (npcId: string, lines: readonly string[], ...words: string[]) =>
    typed(['talk', npcId, ...words], {
      env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey },
      lines,
    });

  it('answers each line, explains an answer, lists memories, and ends with its input', async () => {
    const { code, stdout, stderr } = await talk('mira', ['Good evening.', '', '/why', '/memories', '/unknown']);
    expect(code, stderr).toBe(0);
    const [answer, why] = stdout.split('\n');
    expect(answer).toMatch(/^mira: ./);
    expect(why).toMatch(/^t\S+ of mira, ended$/);
    expect(stdout).toContain('perceived "Good evening."');
    expect(stdout).toContain('observation: Good evening.');
    expect(stderr.match(/\/why: explain the last answer/g)).toHaveLength(2);
  });

  it('explains its own last line, even when another client spoke since', async () => {
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const lines = async function* () {
      yield 'I am the first.';
      await expect.poll(async () => (await typed(['turns', 'nils'], { env })).stdout).toContain('ended');
      await talk('nils', ['I am somebody else.']);
      yield '/why';
    };
    const { stdout } = await typed(['talk', 'nils', '--json'], { env, lines: lines() });
    const [answer, why] = stdout.split('\n', 2).map((line) => JSON.parse(line) as { turnId: string });
    expect(why?.turnId).toBe(answer?.turnId);
  });

  it('speaks as a player, from whom it keeps what others told [12.2b]', async () => {
    const texts = async (player: string, line: string) => (await talk('oda', [line], '--player', player)).stdout;
    await texts('ann', 'The silver is hidden under the old well.');
    expect(await texts('ben', 'Where is the silver hidden?')).not.toContain('under the old well');
    expect(await texts('ann', 'Where is the silver hidden?')).toContain('under the old well');
  });

  it('shows a refusal and continues', async () => {
    const { code, stdout, stderr } = await talk('nobody yet', ['/why', 'Hello.', '/quit', 'Never said.'], '--json');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('No NPC with this ID exists. (NPC_NOT_FOUND)');
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(answers).toMatchObject([{ error: { code: 'NPC_NOT_FOUND' } }, { dialogue: expect.any(String) as string }]);
  });
});

describe('anima talk with the token of a player', () => {
  it('says that it may not ask why, and goes on', async () => {
    const issued = await typed(['player-token', 'ann', '--npc', 'mira'], {
      env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey },
    });
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: issued.stdout.trim() };
    const { code, stdout, stderr } = await typed(['talk', 'mira'], { env, lines: ['Hello.', '/why', 'Good night.'] });
    expect([code, stdout.match(/^mira: /gm)?.length], stderr).toEqual([0, 2]);
    expect(stderr).toContain('FORBIDDEN');
  });
});

describe('anima talk from a file', () => {
  it('exits with 1 when none of its lines was answered', async () => {
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const { code, stderr } = await typed(['talk', 'a/b'], { env, lines: ['Hello.', 'Again.'] });
    expect(code).toBe(1);
    expect(stderr).toMatch(/ID_INVALID[^]*The NPC answered none of the lines\./);
  });

  it('exits with 1 and names the first line that no server can answer', async () => {
    const lines = ['One.', 'Two.'];
    const away = await typed(['talk', 'mira'], { env: { ANIMA_URL: 'http://127.0.0.1:1', ANIMA_API_KEY: 'k' }, lines });
    expect(away.code).toBe(1);
    expect(away.stderr.match(/No server answers/g)).toHaveLength(1);
    const refused = await typed(['talk', 'mira'], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: 'wrong' }, lines });
    expect(refused.code).toBe(1);
    expect(refused.stderr.match(/does not accept this key/g)).toHaveLength(1);
  });
});

describe('anima talk to a busy server', () => {
  const refusal = (code: string) =>
    JSON.stringify({ error: { code, message: 'Later.', details: { reason: 'It is down.' } } });
  const talkTo = async (statuses: readonly number[], code = 'BUSY') => {
    let asked = 0;
    const server = createServer((_, response) => {
      const status = statuses[asked] ?? 200;
      asked += 1;
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
      const spoken = { dialogue: `Answer ${asked}.`, action: { type: 'SPEAK' } };
      response.end(status === 200 ? JSON.stringify(spoken) : refusal(status === 429 ? 'RATE_LIMITED' : code));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { ANIMA_URL: url, ANIMA_API_KEY: 'k' };
      return await typed(['talk', 'mira'], { env, lines: ['One.', 'Two.'] });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it('shows why an engine gave no text', async () => {
    const { stderr } = await talkTo([503, 503, 503], 'CORTEX_UNAVAILABLE');
    expect(stderr).toContain('Later. It is down. Try again in 1 s. (CORTEX_UNAVAILABLE');
    expect(stderr).not.toContain('\\u000a');
    expect(stderr).toMatch(/\nRetrying this line in 1 s \.\.\.\n/);
    expect(stderr.match(/The turn stays open and continues when the model is back\./g)).toHaveLength(1);
  });

  it('repeats a line from a file and loses none', async () => {
    const { code, stdout, stderr } = await talkTo([429, 503]);
    expect([code, stdout], stderr).toEqual([0, 'mira: Answer 3.\nmira: Answer 4.\n']);
  });

  it('continues with the next line after a few tries', async () => {
    const { stdout, stderr } = await talkTo([503, 503, 503]);
    expect(stdout).toBe('mira: Answer 4.\n');
    expect(stderr.match(/Later\. Try again in 1 s\. \(BUSY/g)).toHaveLength(3);
  });
});

describe('anima talk to an NPC with many memories', () => {
  /** The output of `/memories` for a mind with this many memories, and the number of requests that it takes. */
  const remember = async (total: number) => {
    let asked = 0;
    const server = createServer(({ url = '' }, response) => {
      asked += 1;
      const query = new URL(url, 'http://localhost').searchParams;
      const limit = Number(query.get('limit') ?? '10000');
      const from = Number(query.get('cursor') ?? '0');
      const items = Array.from({ length: Math.min(limit, total - from) }, (_, at) => ({
        memoryId: `m${String(from + at)}`,
        type: 'observation',
        text: `Day ${String(from + at)}.`,
      }));
      const link = `</memory?limit=500&cursor=${String(from + limit)}>; rel="next"`;
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(from + limit < total ? { link } : {}),
      });
      response.end(JSON.stringify(items));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { ANIMA_URL: url, ANIMA_API_KEY: 'k' };
      const { stdout, stderr } = await typed(['talk', 'mira'], { env, lines: ['/memories'] });
      return { asked, shown: stdout.trimEnd().split('\n'), stderr };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it('reads them with few requests, and shows the newest', async () => {
    const some = await remember(9_000);
    expect([some.asked, some.shown.length, some.shown.at(-1)]).toEqual([1, 20, '  m8999  observation: Day 8999.']);
    const many = await remember(11_000);
    expect([many.asked, many.shown.length, many.shown.at(-1)]).toEqual([3, 20, '  m10999  observation: Day 10999.']);
  });

  it('uses a small part of the rate limit for them, and reports that it has not read all', async () => {
    const most = await remember(200_000);
    expect(most.asked).toBeLessThanOrEqual(25);
    expect(most.shown).toHaveLength(20);
    expect(most.stderr).toContain('mira has more than 20000 memories. These are the newest of the first 20000.');
  });
});

describe('anima why', () => {
  it('shows the newest turn that has ended, and fails if none has', async () => {
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    await typed(['talk', 'asked'], { env, lines: ['Who are you?'] });
    const shown = await typed(['why', 'asked'], { env });
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('├─ perceived "Who are you?"');
    expect(shown.stdout).toContain('rebuilt from the record: identical');
    expect(shown.stdout).toMatch(/│ {2}[├└]─ observation: .*Who are you\?/);
    const json = await typed(['why', 'asked', '--json'], { env });
    const { turnId } = JSON.parse(json.stdout) as { turnId: string };
    expect(shown.stdout.startsWith(`${turnId} of asked, ended\n`)).toBe(true);
    expect(await typed(['why', 'asked', turnId], { env })).toEqual(shown);
    const missing = await typed(['why', 'nobody'], { env });
    expect([missing.code, missing.stdout]).toEqual([1, '']);
  });
});
