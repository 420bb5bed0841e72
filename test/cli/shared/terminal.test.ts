import { PassThrough, Readable, Writable } from 'node:stream';

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { eventLine } from '../../../src/cli/shared/history-text.js';
import { progressBar, progressLine } from '../../../src/cli/shared/progress.js';
import {
  caughtUp,
  isRead,
  print,
  printJson,
  table,
  tolerateClosedPipe,
  type Terminal,
} from '../../../src/cli/shared/terminal.js';
import { printable } from '../../../src/kernel/base/printable.js';

const terminalTo = (stdout: Writable, stderr: Writable & { isTTY?: boolean } = new PassThrough()): Terminal => ({
  env: {},
  cwd: '/',
  stdin: Readable.from([]),
  stdout,
  stderr,
});

describe('printed text', () => {
  it('contains no character that could move a cursor or change the reading direction', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      }),
    );
    expect(printable('\u001b[2Jgone\u202e')).toBe('\\u001b[2Jgone\\u202e');
  });

  it('keeps ordinary text of every script unchanged', () => {
    const text = 'Grüße, 世界 — 👩‍🚀 said: "fine" (100 %)';
    expect(printable(text)).toBe(text);
  });

  it('is one line as JSON, which reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const stdout = new PassThrough();
        printJson(terminalTo(stdout), { value, text });
        const line = String(stdout.read());
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      }),
    );
  });

  it('is as wide as the widest cell in columns', () => {
    expect(
      table([
        ['A', 'B'],
        ['long', 'x'],
        ['s', ''],
      ]),
    ).toEqual(['A     B', 'long  x', 's']);
  });
});

describe('a reader that goes away', () => {
  const closing = (code: string): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });

  it('does not end the command: further output is dropped', async () => {
    const stdout = closing('EPIPE');
    const failed = vi.fn();
    tolerateClosedPipe(stdout, failed);
    const terminal = terminalTo(stdout);
    print(terminal, 'one');
    await yieldToEventLoop();
    expect(stdout.writable).toBe(false);
    expect(() => print(terminal, 'two')).not.toThrow();
    expect(failed).not.toHaveBeenCalled();
  });

  it('is not waited for', async () => {
    const stdout = new PassThrough({ highWaterMark: 1 });
    const terminal = terminalTo(stdout);
    print(terminal, 'more than it takes');
    const waiting = caughtUp(terminal);
    stdout.destroy();
    await waiting;
    await caughtUp(terminal);
    expect(isRead(terminal)).toBe(false);
  });

  it('is distinguished from a full disk', async () => {
    const stdout = closing('ENOSPC');
    const failed = vi.fn();
    tolerateClosedPipe(stdout, failed);
    print(terminalTo(stdout), 'one');
    await yieldToEventLoop();
    expect(failed).toHaveBeenCalledOnce();
  });
});

describe('a line of a history', () => {
  const event = (type: string, data: object, turnId?: string, more: { readonly broken?: true } = {}) =>
    eventLine({
      revision: 7,
      id: 'id',
      type,
      at: '2026-05-01T10:00:00.123Z',
      actor: 'key',
      hash: '',
      prevHash: '',
      data: data as never,
      ...(turnId === undefined ? {} : { turnId }),
      ...more,
    });

  it('shows when and in which turn something happened, and what', () => {
    expect(event('TurnOpened', { observation: 'The door creaks.' }, 't1')).toBe(
      '     7  2026-05-01 10:00:00.123  TurnOpened           "The door creaks."  [t1]',
    );
  });

  it('marks an event that is not what was recorded, before what it claims [10.13c]', () => {
    expect(event('TurnOpened', { observation: 'x'.repeat(200) }, 't1', { broken: true })).toMatch(
      / {2}TurnOpened {11}BROKEN {2}"x+… {2}\[t1\]$/,
    );
  });

  it.each([
    ['NpcRegistered', { persona: 'guard', data: { hp: 3 } }, '"guard" {"hp":3}'],
    ['TurnOpened', { observation: 'x', resumedFrom: 't0' }, '"x" resumed from t0'],
    ['ActorIdentified', { actor: { npcId: 'guard', persona: 'gruff' } }, 'guard "gruff"'],
    ['MemoriesRecalled', { memories: [{ text: 'a' }, { text: 'b' }] }, '"a", "b"'],
    ['MemoriesRecalled', { memories: [] }, 'none'],
    [
      'VerdictReached',
      { verdict: { valid: true, dialogue: 'Go.', action: { type: 'MOVE', target: 'gate' } } },
      'MOVE -> gate "Go."',
    ],
    [
      'VerdictRefused',
      {
        verdict: {
          valid: false,
          dialogue: 'No.',
          action: null,
          code: 'TARGET_MISSING',
          refusedAction: { type: 'MOVE' },
        },
      },
      'TARGET_MISSING MOVE "No."',
    ],
    ['StateChanged', { patch: { hp: null } }, '{"hp":null}'],
    ['MemoryStored', { text: 'seen', type: 'observation' }, 'observation "seen"'],
    ['TapeMismatchNoticed', { members: [{ member: 'observation' }, { member: 'context' }] }, 'observation, context'],
    ['RulesetMissing', { rulesetId: 'none' }, 'no ruleset "none"'],
    ['BridgeChecked', { action: { type: 'MOVE' }, valid: false, code: 'TARGET_MISSING' }, 'MOVE TARGET_MISSING'],
    ['SomethingNewer', { a: 1 }, '{"a":1}'],
    ['toString', { a: 1 }, '{"a":1}'],
    ['SoulWithdrawn', { soulId: 's1', txId: 'ghw7IY9_f' }, 'ghw7IY9_f from the archive'],
  ])('summarises %s %j', (type, data, gist) => {
    expect(event(type, data).slice(53).trim()).toBe(gist);
  });

  it('is cut when it is too long', () => {
    const line = event('TurnOpened', { observation: 'word '.repeat(500) });
    expect(line.length).toBeLessThan(170);
    expect(line.endsWith('…')).toBe(true);
  });

  it('stays one line whatever the data contains', () => {
    const types = [
      'NpcUpdated',
      'TurnOpened',
      'VerdictReached',
      'MemoriesRecalled',
      'MemoryStored',
      'BridgeChecked',
      'X',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.dictionary(fc.string(), fc.jsonValue()), (type, data) => {
        expect(printable(event(type, data))).not.toContain('\n');
      }),
    );
  });
});

describe('a progress bar', () => {
  it('shows the share that is done', () => {
    expect(progressLine(0, 2_000)).toBe(`[${'-'.repeat(30)}]   0%  0 of 2,000`);
    expect(progressLine(1_000, 2_000)).toBe(`[${'#'.repeat(15)}${'-'.repeat(15)}]  50%  1,000 of 2,000`);
    expect(progressLine(0, 0)).toContain('100%');
    expect(progressLine(0.5, 1, '12 turns')).toContain(' 50%  12 turns');
  });

  it('is drawn only on a terminal, not more often than is visible, and always at the end', () => {
    let now = 0;
    const draw = (isTTY: boolean): string => {
      const stderr = Object.assign(new PassThrough(), { isTTY });
      const bar = progressBar(terminalTo(new PassThrough(), stderr), () => now);
      for (let done = 1; done <= 1_000; done += 1) {
        now += 1;
        bar.update(done, 1_000);
      }
      bar.end();
      return String(stderr.read() ?? '');
    };
    const drawn = draw(true).split('\r').slice(1);
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn.length).toBeLessThan(15);
    expect(drawn.at(-1)).toMatch(/100%.*\n$/);
    expect(draw(false)).toBe('');
  });
});
