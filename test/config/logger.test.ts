import { describe, expect, it } from 'vitest';

import { createLogger, logOrigin } from '../../src/config/logger.js';

const logged = (terminal: boolean, write: (log: ReturnType<typeof createLogger>) => void): string => {
  let text = '';
  write(createLogger('info', { write: (line: string) => (text += line) }, terminal));
  return text;
};

describe('the log', () => {
  it('has one JSON object per line', () => {
    const text = logged(false, (log) => {
      log.info({ npcId: 'mira' }, 'turn ended');
      log.error({ err: new Error('lost') }, 'failed');
    });
    const [first, second, ...rest] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ npcId: 'mira', msg: 'turn ended', level: 30 });
    expect(new Date(first.time).toISOString()).toBe(first.time);
    expect(second).toMatchObject({ msg: 'failed', err: { message: 'lost' } });
    expect(rest).toEqual([]);
  });

  it('shows the message of an error that a library logs as `error`', () => {
    expect(logged(false, (log) => log.error({ error: new Error('lost') }, 'failed'))).toContain('"message":"lost"');
  });

  it.each([true, false])('never shows keys and secrets (on a terminal: %s)', (terminal) => {
    const text = logged(terminal, (log) => {
      log.info({ authorization: 'hush', apiKey: 'hush', key: 'hush', secret: 'hush', authKey: 'hush' }, 'flat');
      log.info({ headers: { authorization: 'hush' }, body: { apiKey: 'hush', key: 'hush' } }, 'nested');
      log.info({ req: { headers: { authorization: 'hush', Authorization: 'hush' } } }, 'deeper');
      log.info({ sasl: { password: 'hush' }, temporal: { payloadKeys: ['hush'] } }, 'of servers');
    });
    expect(text).not.toContain('hush');
    expect(text.match(/\[redacted\]/g)).toHaveLength(12);
  });

  it('has one readable line per entry on a terminal, with the stack of an error below', () => {
    const text = logged(true, (log) => {
      log.info({ npcId: 'mira' }, 'turn ended');
      log.error({ err: new Error('lost') }, 'failed');
    });
    const [first, second, stack] = text.split('\n');
    expect(first).toMatch(/^\d\d:\d\d:\d\d turn ended npcId="mira"$/);
    expect(second).toMatch(/^\d\d:\d\d:\d\d error failed$/);
    expect(stack).toBe('Error: lost');
  });

  it('names the process on each line, and its roles and namespace if there are several', () => {
    const lineOf = (terminal: boolean, distributed: Parameters<typeof logOrigin>[0]['distributed']): string => {
      let text = '';
      const output = { write: (line: string) => (text += line) };
      createLogger('info', output, terminal, logOrigin({ distributed })).info({}, 'ready');
      return text;
    };
    const several = { roles: new Set(['http', 'relay'] as const), namespace: 'east' } as never;
    const { pid } = process;
    expect(JSON.parse(lineOf(false, several))).toMatchObject({ pid, roles: ['http', 'relay'], namespace: 'east' });
    expect(JSON.parse(lineOf(false, null))).toMatchObject({ pid, msg: 'ready' });
    expect(lineOf(false, null)).not.toContain('roles');
    expect(lineOf(true, several)).toMatch(/^\S+ ready\n$/);
  });

  it('omits entries below its level', () => {
    expect(logged(false, (log) => log.debug({}, 'request'))).toBe('');
  });
});
