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
import { openLog } from '../support/logs.js';
import { itLong } from '../support/long.js';
import { canVerify, pythonScript } from '../support/python-script.js';
import { serverKeys } from '../support/souls.js';

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
  readonly kid?: string;
  readonly kept?: string;
};
/** Why each verifier refuses each of these: the line, or null if it is accepted. Both must report the same line. */
const verdicts = async (wanted: readonly Wanted[]): Promise<readonly (readonly [string, number | null])[]> => {
  const calls: string[][] = [];
  const ours: (number | null)[] = [];
  for (const { text, kid, kept } of wanted) {
    const file = fileWith(text);
    const trust = { ...(kid === undefined ? {} : { key: { kid } }), ...(kept === undefined ? {} : { kept }) };
    calls.push([
      file,
      ...(kid === undefined ? [] : ['--key', kid]),
      ...(kept === undefined ? [] : ['--checkpoint', fileWith(kept)]),
    ]);
    ours.push(
      await verifyBundleFile(file, trust).then(
        () => null,
        (error: unknown) => {
          if (error instanceof LineBroken) return error.line;
          throw error;
        },
      ),
    );
  }
  if (verifier !== null) {
    const answers = await Promise.all(calls.map((call) => verifier.run('', ...call)));
    const theirs = answers.map(({ status, said }) =>
      status === 0 && said.startsWith('valid ') ? null : Number(/^broken at line (\d+): /.exec(said)?.[1] ?? NaN),
    );
    expect(wanted.map(({ name }, index) => [name, theirs[index]])).toEqual(
      wanted.map(({ name }, index) => [name, ours[index]]),
    );
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

describe('a bundle', () => {
  it('passes both verifiers: complete, in part, and with a stored checkpoint [10.5j, 10.5k]', async () => {
    const { kid } = opened.keys.current;
    const all: readonly Wanted[] = [
      { name: 'whole', text: whole },
      { name: 'with its key', text: whole, kid },
      { name: 'with a kept checkpoint', text: whole, kid, kept: kept.note },
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
      for (const [name, line] of await verdicts(wanted)) expect(line, name).toBe(lines.length);
    },
    120_000,
  );

  it('is refused for a forged checkpoint, another key, a fork, and a truncated log', async () => {
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
      { name: 'signed by a stranger whose key it brings, with a key', text: withNote(foreign, foreignKeys), kid },
      { name: 'another root', text: withNote(await noteBy(opened.keys, otherRoot)) },
      { name: 'another size', text: withNote(await noteBy(opened.keys, larger)) },
      { name: 'another key', text: whole, kid: strangers.current.kid },
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
        kid,
      },
    ];
    expect(await verdicts(wanted)).toEqual(wanted.map(({ name }) => [name, lines.length]));
    // Anyone can sign anything: only somebody who knows the key notices.
    expect(await verdicts([{ name: 'it brings the key', text: withNote(foreign, foreignKeys) }])).toEqual([
      ['it brings the key', null],
    ]);
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
