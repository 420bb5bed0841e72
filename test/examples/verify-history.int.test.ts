import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { LineBroken, verifyBundleFile } from '../../src/features/proofs/cli/bundle-file.js';
import { checkpointText } from '../../src/features/proofs/domain/checkpoint.js';
import { noteKeyId, writeNote } from '../../src/features/proofs/domain/note.js';
import { jcs, type Json, type JsonObject } from '../../src/kernel/base/json.js';
import { sha256Hex } from '../../src/kernel/crypto/sha256.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import { typed } from '../cli/typed.js';
import { openLog } from '../support/logs.js';
import { itLong } from '../support/long.js';
import { canVerify, pythonScript } from '../support/python-script.js';
import { rotatingKeys, serverKeys } from '../support/souls.js';

const script = join(import.meta.dirname, '../../examples/verify_history.py');
const missing = !canVerify();
if (missing) console.log('the Python check of bundles is skipped: python3 with the package "cryptography" is missing');

const folder = mkdtempSync(join(tmpdir(), 'anima-bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileWith = (text: string | Uint8Array): string => {
  const file = join(folder, String((files += 1)));
  writeFileSync(file, text);
  return file;
};

const verifier = missing ? null : pythonScript(script);
afterAll(() => verifier?.[Symbol.dispose]());

type Wanted = {
  readonly name: string;
  readonly text: string | Uint8Array;
  readonly kids?: readonly string[];
  readonly kept?: string;
};
/** Where a verifier finds something wrong: a line of the bundle, or outside it. */
type Where = number | 'checkpoint' | 'key' | 'proof' | null;
const THEIR_WORDS = { 'wrong checkpoint': 'checkpoint', 'wrong key': 'key', 'not proven': 'proof' } as const;

/** What each verifier says to each of these: where it is wrong, or null if it is accepted. Both must give the same place and the same reason. */
const verdicts = async (wanted: readonly Wanted[]): Promise<readonly (readonly [string, Where])[]> => {
  const calls: string[][] = [];
  const ours: Where[] = [];
  const reasons: (string | null)[] = [];
  for (const { text, kids, kept } of wanted) {
    const file = fileWith(text);
    const trust = {
      ...(kids === undefined ? {} : { keys: kids.map((kid) => ({ kid })) }),
      ...(kept === undefined ? {} : { kept: () => kept }),
    };
    calls.push([
      file,
      ...(kids === undefined ? ['--any-key'] : kids.flatMap((kid) => ['--key', kid])),
      ...(kept === undefined ? [] : ['--checkpoint', fileWith(kept)]),
    ]);
    ours.push(
      await verifyBundleFile(file, trust).then(
        () => {
          reasons.push(null);
          return null;
        },
        (error: unknown) => {
          if (!(error instanceof LineBroken)) throw error;
          reasons.push(error.message);
          return error.culprit === 'bundle' ? error.line : error.culprit;
        },
      ),
    );
  }
  if (verifier !== null) {
    const answers = await Promise.all(calls.map((call) => verifier.run('', ...call)));
    const theirs = answers.map(({ status, said }): Where => {
      if (status === 0 && said.startsWith('valid ')) return null;
      const [word = ''] = said.split(':');
      return word in THEIR_WORDS
        ? THEIR_WORDS[word as keyof typeof THEIR_WORDS]
        : Number(/^broken at line (\d+)$/.exec(word)?.[1] ?? NaN);
    });
    expect(wanted.map(({ name }, index) => [name, theirs[index]])).toEqual(
      wanted.map(({ name }, index) => [name, ours[index]]),
    );
    for (const [index, { said }] of answers.entries())
      if (typeof ours[index] === 'string') expect(said, wanted[index]?.name).toContain(`: ${String(reasons[index])}`);
  }
  return wanted.map(({ name }, index) => [name, ours[index] ?? null]);
};

const strange: readonly JsonObject[] = [
  { text: 'Zoë \u0007 \ud83d\ude00 \u2028 “x”', numbers: [0, -0, 1e21, 1e-7, 0.1, 5e-324, 123456789012345680000] },
  { '\ufb33': 1, '\ud83d\ude00': 2, constructor: { a: null, b: [true, false, {}] } },
];
const opened = await openLog();
for (let mind = 0; mind < 4; mind += 1) await opened.write(`m${String(mind)}`, { text: 'begun' });
await opened.write('zoë of the gate', ...strange, { text: 'three' });
const kept = await opened.checkpoint();
for (let mind = 0; mind < 7; mind += 1) await opened.write(`m${String(mind)}`, { text: 'more' });
await opened.write('zoë of the gate', { text: 'four' }, { text: 'five' });
const newest = await opened.checkpoint();
await opened.write('zoë of the gate', { text: 'six' });
const whole = await opened.bundle('zoë of the gate', 0, 5, kept.size);
const lines = whole.split('\n').slice(0, -1);
const bundleOfLines = (of: readonly string[]): string => of.map((line) => `${line}\n`).join('');
const parsed = (line: string | undefined): JsonObject => JSON.parse(line ?? '') as JsonObject;

/** A slightly changed value. */
const changed = (value: Json): Json => {
  if (typeof value === 'number') return value + 1 === value ? 0 : value + 1;
  if (typeof value === 'string')
    return /^[0-9a-f]{64}$/.test(value) ? value.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) : `${value}x`;
  if (value === null) return 'x';
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? [...(value as Json[]), 1] : { ...(value as JsonObject), more: 1 };
};
/** The value with each of its members changed, and with each left out, at any depth. */
function* changes(value: Json, at = ''): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  const names = Object.keys(value);
  for (const name of names) {
    const here = `${at}/${name}`;
    const inner = (value as JsonObject)[name] as Json;
    const put = (next: Json | undefined): Json => {
      if (Array.isArray(value))
        return next === undefined ? value.toSpliced(Number(name), 1) : value.with(Number(name), next);
      const { [name]: _, ...rest } = value as JsonObject;
      return next === undefined ? rest : { ...rest, [name]: next };
    };
    yield [`${here} changed`, put(changed(inner))];
    yield [`${here} left out`, put(undefined)];
    for (const [path, next] of changes(inner, here)) yield [path, put(next)];
  }
}

const BEYOND = 'the log covers this NPC up to revision 4, beyond this bundle: export up to 4 to prove it';

describe('a bundle', () => {
  it('passes both verifiers: complete, in part, and with a stored checkpoint [10.5j, 10.5k]', async () => {
    const { kid } = opened.keys.current;
    const all: readonly Wanted[] = [
      { name: 'whole', text: whole },
      { name: 'with its key', text: whole, kids: [kid] },
      { name: 'with a kept checkpoint', text: whole, kids: [kid], kept: kept.note },
      { name: 'with the same checkpoint', text: whole, kept: newest.note },
      { name: 'a part', text: await opened.bundle('zoë of the gate', 2, 4) },
      { name: 'one event', text: await opened.bundle('zoë of the gate', 1, 1) },
      { name: 'not logged yet', text: await opened.bundle('zoë of the gate', 5, 5) },
      ...(await Promise.all(
        Array.from({ length: 7 }, async (_, mind) => ({
          name: `mind ${String(mind)}`,
          text: await opened.bundle(`m${String(mind)}`, 0, mind < 4 ? 1 : 0, kept.size),
          kept: kept.note,
        })),
      )),
    ];
    expect(await verdicts(all)).toEqual(all.map(({ name }) => [name, null]));
  });

  it('says up to where the log reaches if it ends before the next head there [10.5q]', async () => {
    const part = await opened.bundle('zoë of the gate', 3, 3);
    const partLines = part.split('\n').slice(0, -1);
    const [header, end] = [
      parsed(partLines[0]),
      parsed(partLines.at(-1)) as JsonObject & { readonly proof: JsonObject },
    ];
    expect([header['version'], end['last']]).toEqual([2, 5]);
    expect(end.proof['leaf']).toMatchObject({ revision: 4 });
    const { kid } = opened.keys.current;
    const withEnd = (members: JsonObject): string => bundleOfLines(partLines.with(-1, jcs({ ...end, ...members })));
    const wanted: readonly (readonly [Wanted, Where])[] = [
      [{ name: 'a part', text: part }, null],
      [{ name: 'with a key', text: part, kids: [kid] }, 'proof'],
      [
        { name: 'with a checkpoint', text: await opened.bundle('zoë of the gate', 3, 3, kept.size), kept: kept.note },
        'proof',
      ],
      [{ name: 'up to the head', text: await opened.bundle('zoë of the gate', 3, 4), kids: [kid] }, null],
      [{ name: 'of a history that was cut', text: withEnd({ last: 3 }) }, 3],
      [{ name: 'without its proof', text: withEnd({ proof: null }) }, 3],
      [{ name: 'an end before its events', text: withEnd({ last: 2 }) }, 3],
      [{ name: 'of version 1', text: bundleOfLines(partLines.with(0, jcs({ ...header, version: 1 }))) }, 3],
      [
        {
          name: 'a proof within it',
          text: whole.replace('"version":1', '"version":2').replace(/"proof":/, '"last":9,"proof":'),
        },
        lines.length,
      ],
    ];
    expect(await verdicts(wanted.map(([one]) => one))).toEqual(wanted.map(([{ name }, where]) => [name, where]));
    const said = await typed(['verify', fileWith(part), '--any-key']);
    expect([said.code, said.stdout]).toEqual([0, expect.stringContaining(BEYOND)]);
    expect(said.stdout).not.toContain('Proven:');
    if (verifier === null) return;
    expect((await verifier.run('', fileWith(part), '--any-key')).said).toContain(BEYOND);
  });

  it('fails after any change of a member, at the changed line or the first one that shows it', async () => {
    const wanted = lines.flatMap((line, place) =>
      [...changes(parsed(line))].map(([path, value]) => ({
        name: `line ${String(place + 1)} ${path}`,
        text: bundleOfLines(lines.with(place, jcs(value))),
        kept: kept.note,
      })),
    );
    expect(wanted.length).toBeGreaterThan(150);
    for (const [name, line] of await verdicts(wanted)) expect(line, name).not.toBeNull();
  });

  it('fails when a line is dropped, duplicated, moved, cut, or written differently', async () => {
    const wanted = lines.flatMap((line, place): readonly Wanted[] => {
      const name = (how: string): string => `line ${String(place + 1)} ${how}`;
      const spaced = line.replace(/^\{/, '{ ');
      const doubledName = line.replace(/^\{/, `{${JSON.stringify(Object.keys(parsed(line))[0])}:0,`);
      return [
        { name: name('dropped'), text: bundleOfLines(lines.toSpliced(place, 1)) },
        { name: name('doubled'), text: bundleOfLines(lines.toSpliced(place, 0, line)) },
        { name: name('empty before it'), text: bundleOfLines(lines.toSpliced(place, 0, '')) },
        ...(place === 0
          ? []
          : [
              {
                name: name('moved'),
                text: bundleOfLines(lines.with(place, lines[place - 1] ?? '').with(place - 1, line)),
              },
            ]),
        { name: name('the end'), text: bundleOfLines(lines.slice(0, place)) },
        { name: name('cut'), text: bundleOfLines(lines.slice(0, place)) + line.slice(0, line.length / 2) },
        { name: name('spaced'), text: bundleOfLines(lines.with(place, spaced)) },
        { name: name('with a name twice'), text: bundleOfLines(lines.with(place, doubledName)) },
        { name: name('with CRLF'), text: bundleOfLines(lines.with(place, `${line}\r`)) },
        {
          name: name('no UTF-8'),
          text: Buffer.concat([Buffer.from(bundleOfLines(lines.slice(0, place))), Buffer.from([0xff, 0x0a])]),
        },
      ];
    });
    const all = [
      ...wanted,
      { name: 'more at the end', text: `${whole}{}\n` },
      { name: 'no last line break', text: whole.slice(0, -1) },
    ];
    for (const [name, line] of await verdicts(all)) expect(line, name).not.toBeNull();
  });

  itLong(
    'fails after any bit flip in the note, the path or the leaf',
    async () => {
      const last = lines.at(-1) ?? '';
      const begin = last.indexOf('"proof"');
      const wanted = Array.from({ length: last.length - begin }, (_, offset) => begin + offset)
        .filter((at) => /[0-9a-zA-Z+/]/.test(last[at] ?? ''))
        .map((at) => {
          const flipped = last[at] === 'A' ? 'B' : last[at] === '0' ? '1' : /\d/.test(last[at] ?? '') ? '0' : 'A';
          return {
            name: `character ${String(at)}`,
            text: bundleOfLines(lines.with(lines.length - 1, last.slice(0, at) + flipped + last.slice(at + 1))),
            kept: kept.note,
          };
        });
      for (const [name, line] of await verdicts(wanted)) expect([lines.length, 'checkpoint'], name).toContain(line);
    },
    120_000,
  );

  it('crosses a rotation of the signing keys: both sign one round, and each key of it is enough [10.5l, 11.8b, 11.8c]', async () => {
    const keys = await rotatingKeys('rotated');
    await using log = await openLog({ signingKeys: keys });
    await log.write('mira', { text: 'before' });
    const before = await log.checkpoint();
    const made = await keys.rotate();
    await log.write('mira', { text: 'between' });
    const both = await log.checkpoint();
    const bundledAtBoth = await log.bundle('mira', 0, 1, before.size);
    await log.write('mira', { text: 'after' });
    const after = await log.checkpoint();
    const bundledAfter = await log.bundle('mira', 0, 2, before.size);
    expect([before.kid, both.kid, after.kid]).toEqual([before.kid, made, made]);
    const nameOf = (note: string) => note.split('\n').filter((line) => line.startsWith('— ')).length;
    expect([before, both, after].map(({ note }) => nameOf(note))).toEqual([1, 2, 1]);
    const good: readonly Wanted[] = [
      { name: 'by any key', text: bundledAtBoth, kept: before.note },
      { name: 'by the old key', text: bundledAtBoth, kids: [before.kid], kept: before.note },
      { name: 'by the new key', text: bundledAtBoth, kids: [made], kept: both.note },
      { name: 'later by the new key', text: bundledAfter, kids: [made] },
      { name: 'later by the old or the new key', text: bundledAfter, kids: [before.kid, made], kept: before.note },
    ];
    expect(await verdicts(good)).toEqual(good.map(({ name }) => [name, null]));
    const bad: readonly Wanted[] = [
      { name: 'later by the old key', text: bundledAfter, kids: [before.kid] },
      { name: 'by the new key, when only the old one signed', text: bundledAfter, kids: [made], kept: before.note },
    ];
    expect(await verdicts(bad)).toEqual(bad.map(({ name }) => [name, 'key']));
    const { logged } = await verifyBundleFile(fileWith(bundledAtBoth), { keys: [{ kid: before.kid }] });
    expect(logged).toMatchObject({ kid: before.kid, alsoSignedBy: [made] });
    const typedKeys = ['--key', before.kid, '--key', made];
    const one = await typed(['verify', fileWith(bundledAtBoth), ...typedKeys]);
    expect([one.code, one.stdout]).toEqual([0, expect.stringContaining(`Signed by the key ${made}, as expected.`)]);
    expect(one.stdout).toContain(`Also signed by the key ${before.kid}, `);
    expect((await typed(['verify', fileWith(bundledAtBoth)])).code).toBe(4);
    const said = await verifier?.run('', fileWith(bundledAtBoth), '--key', before.kid);
    if (said !== undefined) expect(said.said).toContain(`signed by ${before.kid} and ${made}`);
  });

  it('is refused for a forged checkpoint, another key, a fork, and a truncated log [10.5l, 10.5r]', async () => {
    const strangers = await serverKeys('strangers');
    const end = parsed(lines.at(-1)) as { readonly proof: JsonObject };
    const header = parsed(lines[0]) as { readonly keys: readonly Json[] };
    const noteBy = async (keys: SigningKeys, of: Partial<Parameters<typeof checkpointText>[0]>): Promise<string> => {
      const { origin, size, at } = newest;
      const text = checkpointText({ origin, size, at, root: Buffer.from(newest.root, 'hex'), ...of });
      const { signature, x } = await keys.signText(keys.current.kid, text);
      return writeNote(text, { name: origin, keyId: noteKeyId(origin, x), signature });
    };
    const withNote = (note: string, keys: readonly Json[] = header.keys): string =>
      bundleOfLines([jcs({ ...header, keys }), ...lines.slice(1, -1), jcs({ ...end, proof: { ...end.proof, note } })]);
    const { kid } = opened.keys.current;
    const foreign = await noteBy(strangers, {});
    const foreignKeys = [...(await strangers.publicJwks()), ...header.keys];
    const otherRoot = { root: Buffer.alloc(32, 1) };
    const larger = { size: newest.size + 1 };
    const wanted: readonly Wanted[] = [
      { name: 'signed by nobody', text: withNote(newest.note.replace(/— .*\n$/, '')) },
      { name: 'signed by a stranger', text: withNote(foreign) },
      {
        name: 'signed by a stranger whose key it brings, with a key',
        text: withNote(foreign, foreignKeys),
        kids: [kid],
      },
      { name: 'another root', text: withNote(await noteBy(opened.keys, otherRoot)) },
      { name: 'another size', text: withNote(await noteBy(opened.keys, larger)) },
      { name: 'another key', text: whole, kids: [strangers.current.kid] },
      { name: 'a fork', text: whole, kept: await noteBy(opened.keys, otherRoot) },
      { name: 'a fork before', text: whole, kept: await noteBy(opened.keys, { ...otherRoot, size: kept.size }) },
      { name: 'a log that was cut', text: whole, kept: await noteBy(opened.keys, larger) },
      {
        name: 'a kept one of a size without a path',
        text: whole,
        kept: await noteBy(opened.keys, { size: kept.size - 1 }),
      },
      { name: 'a kept one that nobody signed', text: whole, kept: foreign },
      {
        name: 'a kept one of another log',
        text: whole,
        kept: await noteBy(opened.keys, { origin: 'other.example/audit/x' }),
      },
      {
        name: 'no proof, with a key',
        text: bundleOfLines(lines.with(-1, jcs({ ...end, proof: null }))),
        kids: [kid],
      },
    ];
    expect(await verdicts(wanted)).toEqual([
      ['signed by nobody', lines.length],
      ['signed by a stranger', lines.length],
      ['signed by a stranger whose key it brings, with a key', 'key'],
      ['another root', lines.length],
      ['another size', lines.length],
      ['another key', 'key'],
      ['a fork', 'checkpoint'],
      ['a fork before', 'checkpoint'],
      ['a log that was cut', 'checkpoint'],
      ['a kept one of a size without a path', 'checkpoint'],
      ['a kept one that nobody signed', 'checkpoint'],
      ['a kept one of another log', 'checkpoint'],
      ['no proof, with a key', 'proof'],
    ]);
    // Anyone can sign anything: only somebody who knows the key notices. So nobody passes who did not say which key.
    const forged = withNote(foreign, foreignKeys);
    expect(await verdicts([{ name: 'it brings the key', text: forged }])).toEqual([['it brings the key', null]]);
    const file = fileWith(forged);
    const [plain, any] = [await typed(['verify', file]), await typed(['verify', file, '--any-key'])];
    expect([plain.code, plain.stderr]).toEqual([4, expect.stringMatching(/^Key not checked: /)]);
    expect([any.code, any.stderr]).toEqual([0, '']);
    expect((await typed(['verify', file, '--any-key', '--key', kid])).code).toBe(2);
    for (const [words, key] of [
      [[], 'not checked'],
      [['--any-key'], 'any'],
    ] as const)
      expect(JSON.parse((await typed(['verify', file, '--json', ...words])).stdout)).toMatchObject({
        valid: true,
        key,
      });
    if (verifier === null) return;
    const theirs = await verifier.run('', file);
    expect([theirs.status, theirs.said]).toEqual([4, expect.stringContaining(plain.stderr.trim())]);
    expect((await verifier.run('', file, '--any-key', '--key', kid)).status).toBe(2);
  });

  it('is compared with the last note of its own log in a kept file, whatever else the file holds [10.5l, 10.5r]', async () => {
    const jsonLine = (value: Json): string => `${JSON.stringify(value)}\n`;
    const other = newest.note.replaceAll(newest.origin, 'other.example/audit/x');
    const [ours, theirs] = [jsonLine({ note: kept.note }), jsonLine({ note: other })];
    const cut = jsonLine({ note: newest.note }).slice(0, 40);
    const surrogate = '{"note":"\\ud800\\n1\\nx\\n"}\n';
    const files: readonly (readonly [string, string | Uint8Array, number])[] = [
      ['a note', kept.note, 0],
      ['a note after a byte order mark', `\ufeff${kept.note}`, 0],
      ['lines', ours, 0],
      ['lines of which another log has the last', ours + theirs, 0],
      ['lines of which another log has all but one', theirs + theirs + ours + theirs, 0],
      ['lines after a byte order mark', `\ufeff${ours}`, 0],
      ['lines that begin with an empty one', `\n${ours}`, 0],
      ['lines that begin with another', `hello\n${ours}`, 0],
      ['lines with strange ones', `${ours}[1]\n{"note":5}\n{"x":NaN}\n${'['.repeat(5_000)}\n${surrogate}null\n`, 0],
      ['lines that end with CRLF', ours.replace('\n', '\r\n'), 0],
      ['lines of which the last was cut off', ours + cut, 0],
      ['lines with one that is no UTF-8', Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.from(ours)]), 0],
      ['a note of another log', other, 1],
      ['lines of another log', theirs, 1],
      ['a note with CRLF', kept.note.replaceAll('\n', '\r\n'), 1],
      ['an object', '{"x":1}', 1],
      ['a list', '[1]\n', 1],
      ['a note that is a number', '{"note":5}', 1],
      ['a surrogate', surrogate, 1],
      ['nothing', '', 1],
    ];
    for (const [name, content, code] of files) {
      const args = [fileWith(whole), '--any-key', '--checkpoint', fileWith(content)];
      const said = await typed(['verify', ...args]);
      expect([name, said.code]).toEqual([name, code]);
      if (verifier === null) continue;
      const answer = await verifier.run('', ...args);
      expect([name, answer.status]).toEqual([name, code]);
      if (code === 0) continue;
      expect(answer.said, name).not.toMatch(/Traceback|broken at line/);
      expect(said.stderr, name).toContain(answer.said.replace(/^wrong checkpoint: /, ''));
    }
    const [key = {}] = parsed(lines[0])['keys'] as readonly JsonObject[];
    for (const [text, code] of [
      [`\ufeff${JSON.stringify(key)}`, 0],
      ['[1]', 1],
      ['['.repeat(5_000), 1],
    ] as const) {
      const args = [fileWith(whole), '--key', fileWith(text)];
      const said = await typed(['verify', ...args]);
      expect([text.slice(0, 3), said.code]).toEqual([text.slice(0, 3), code]);
      if (verifier === null) continue;
      const answer = await verifier.run('', ...args);
      expect(answer.status).toBe(code);
      if (code === 1) expect(said.stderr).toContain(answer.said);
    }
  });

  it('fails in both languages for values that only one of them parses', async () => {
    /** Events of a forger who rebuilds their chain. */
    const chained = (header: string, events: readonly JsonObject[]): readonly string[] => {
      let { prevHash } = parsed(header);
      const made = events.map(({ hash: _, ...event }) => {
        const linked: JsonObject = { ...event, prevHash: prevHash ?? null };
        prevHash = sha256Hex(jcs(linked));
        return jcs({ ...linked, hash: prevHash });
      });
      const head = { revision: events.length - 1, hash: prevHash ?? null };
      return [header, ...made, jcs({ events: events.length, head, proof: null })];
    };
    const header = jcs({ ...parsed(lines[0]), to: 1 });
    const [one = {}, two = {}] = lines.slice(1, 3).map(parsed);
    const forged = (name: string, event: JsonObject): Wanted => ({
      name,
      text: bundleOfLines(chained(header, [event, two])),
    });
    const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });
    const { causationId: _causation, commandId: _command, ...rest } = one;
    const end = parsed(lines.at(-1)) as { readonly proof: JsonObject };
    const first = (members: JsonObject): string =>
      bundleOfLines(lines.with(0, jcs({ ...parsed(lines[0]), ...members })));
    const [key = null] = parsed(lines[0])['keys'] as readonly Json[];
    const wanted: readonly Wanted[] = [
      { name: 'true as the version', text: first({ version: true }) },
      { name: 'digits of another script', text: first({ madeAt: '٢٠٢٦-11-25T00:00:00.000Z' }) },
      { name: 'more keys than are read', text: first({ keys: Array.from({ length: 1_001 }, () => key) }) },
      {
        name: 'null as an extension',
        text: bundleOfLines(lines.with(-1, jcs({ ...end, proof: { ...end.proof, extends: null } }))),
      },
      { name: 'true as a revision', text: bundleOfLines(chained(header, [one, { ...two, revision: true }])) },
      forged('two names in one', { ...rest, 'causationId commandId': null }),
      forged('a time that is none', { ...one, at: '\ue000' }),
      forged('too deep', { ...one, data: deep(400) }),
      ...[2_000_000, 2_097_100, 2_200_000].map((size) =>
        forged(`a line of ${String(size)}`, { ...one, data: { x: 'x'.repeat(size) } }),
      ),
    ];
    const said = await verdicts([forged('not forged', one), ...wanted]);
    expect(said.filter(([, line]) => line === null).map(([name]) => name)).toEqual(['not forged', 'a line of 2000000']);
  });
});
