import { stat } from 'node:fs/promises';

import { Command } from 'commander';

import { type Culprit, keyOfJwk } from '../read-bundle.js';
import { beyondSentence, type NamedKey, NO_PROOF, type Trust } from '../verify-bundle.js';
import type { Json } from '../../../kernel/base/json.js';
import { readJson } from '../../../kernel/base/read-json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { LineBroken, verifyBundleFile, type WholeBundle } from './bundle-file.js';
import { keptNotes, keptOf } from './kept-notes.js';
import { fileOf, readTyped } from '../../../cli/shared/files.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { KeyNotChecked } from '../../../cli/shared/judging.js';
import { counted } from '../../../cli/shared/text.js';

type VerifyOptions = {
  readonly key?: readonly string[];
  readonly anyKey?: true;
  readonly checkpoint?: string;
  readonly json?: true;
};

/** Whose signature was required: that of a key that the caller expects, of any key, or nobody said. */
type KeyCheck = 'expected' | 'any' | 'not checked';

const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/;

const readText = async (terminal: Terminal, file: string): Promise<string> =>
  new TextDecoder().decode(await readTyped(terminal, file));

const parsed = (text: string): Json => {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof Rejection) return null;
    throw error;
  }
};

/** A key of `--key`: a thumbprint, or a file with a JWK. */
const trustedKey = async (terminal: Terminal, named: string): Promise<NamedKey> => {
  if (THUMBPRINT.test(named)) return { kid: named };
  const key = keyOfJwk(parsed(await readText(terminal, named)));
  if (key === null)
    throw new CommandFailed(`${named} is neither a key thumbprint of 43 characters nor a file with an Ed25519 JWK.`);
  return key;
};

const reportLines = ({ header, logged, beyond }: WholeBundle, key: KeyCheck): readonly string[] => {
  const { npcId, tenant, from, to } = header;
  const count = to - from + 1;
  const lines = [
    `Intact: ${counted(count, 'event', 'events')} of ${npcId} (tenant ${tenant}), revisions ${String(from)} to ${String(to)}. None was changed, removed or moved since its hash was computed.`,
  ];
  if (logged === null)
    return [
      ...lines,
      `Not proven: that this is the original history, because ${beyond === null ? NO_PROOF : beyondSentence(beyond)}.`,
    ];
  const { checkpoint, kid, alsoSignedBy, leaf, extendsSize } = logged;
  const covered = leaf.revision - from + 1;
  lines.push(
    `Proven: the ${counted(covered, 'event', 'events')} up to revision ${String(leaf.revision)} ${covered === 1 ? 'was' : 'were'} in the log ${checkpoint.origin} when it was signed at ${checkpoint.at} (the signer's clock). It then held ${counted(checkpoint.size, 'head', 'heads')}.`,
    `Signed by the key ${kid}${key === 'expected' ? ', as expected.' : '.'}`,
  );
  for (const other of alsoSignedBy)
    lines.push(`Also signed by the key ${other}, for example because one of the two follows the other.`);
  if (leaf.revision < to)
    lines.push(
      `Not proven: the ${counted(to - leaf.revision, 'event', 'events')} after revision ${String(leaf.revision)}. Only their hash chain was checked.`,
    );
  lines.push(
    extendsSize === null
      ? 'Not checked: whether the log was truncated or forked. Pass an earlier checkpoint with --checkpoint.'
      : `Proven: the log extends the given checkpoint of size ${String(extendsSize)}.`,
    'Never proven: that the recorded events are true, that everything was recorded, or that no events followed.',
  );
  return lines;
};

const jsonOf = ({ header, last, logged, beyond }: WholeBundle, key: KeyCheck): object => ({
  valid: true,
  key,
  npcId: header.npcId,
  tenant: header.tenant,
  from: header.from,
  to: header.to,
  head: { revision: last.revision, hash: last.hash },
  logged: logged && {
    origin: logged.checkpoint.origin,
    size: logged.checkpoint.size,
    at: logged.checkpoint.at,
    kid: logged.kid,
    alsoSignedBy: logged.alsoSignedBy,
    revision: logged.leaf.revision,
    extends: logged.extendsSize,
  },
  loggedBeyond: beyond,
});

/** Names what is wrong, so that nobody suspects the bundle because of a wrong file. */
const refusals: Readonly<Record<Culprit, (line: string, reason: string) => string>> = {
  bundle: (line, reason) => `The bundle is invalid at ${line}: ${reason}.`,
  checkpoint: (_, reason) => `The bundle does not fit the kept checkpoint: ${reason}.`,
  key: (_, reason) => `The key is wrong: ${reason}.`,
  proof: (_, reason) => `The bundle is intact, but not proven: ${reason}.`,
};

const KEY_NOT_CHECKED =
  'Key not checked: anyone can sign a log of their own, and the key comes from the bundle itself. Get the key of the server elsewhere, for example from its /.well-known/jwks.json, and pass it with --key. --any-key accepts every key.';

const verify = async (terminal: Terminal, file: string, options: VerifyOptions): Promise<void> => {
  if (options.key !== undefined && options.anyKey) throw new WrongUsage('--key and --any-key exclude each other.');
  const notes = options.checkpoint === undefined ? null : await keptNotes(terminal, options.checkpoint);
  const trust: Trust = {
    ...(options.key === undefined
      ? {}
      : { keys: await Promise.all(options.key.map((named) => trustedKey(terminal, named))) }),
    ...(notes === null ? {} : { kept: (origin) => keptOf(notes, origin).note }),
  };
  let whole: WholeBundle;
  try {
    const path = fileOf(terminal, file);
    // The end of the file is read first.
    if (!(await stat(path)).isFile())
      throw new CommandFailed(`${file} is not a regular file. Write the bundle to a file first.`);
    whole = await verifyBundleFile(path, trust);
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    if (error instanceof LineBroken) {
      const { line, revision, message, culprit } = error;
      if (options.json) printJson(terminal, { valid: false, wrong: culprit, line, revision, reason: message });
      const event = revision === null ? '' : ` (revision ${String(revision)})`;
      throw new CommandFailed(refusals[culprit](`line ${String(line)}${event}`, message));
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandFailed(`${file} cannot be read (${code}).`);
  }
  const key: KeyCheck = options.key !== undefined ? 'expected' : options.anyKey ? 'any' : 'not checked';
  if (options.json) printJson(terminal, jsonOf(whole, key));
  else for (const line of reportLines(whole, key)) print(terminal, line);
  if (key === 'not checked') throw new KeyNotChecked(KEY_NOT_CHECKED);
};

/** `anima verify <file>`: checks a bundle without a server. */
export const verifyCommand = (terminal: Terminal): Command =>
  new Command('verify')
    .description('check a bundle offline: its hash chain and its proof from the log; needs no server')
    .argument('<file>', 'bundle written by "bundle"')
    .option(
      '--key <kid|file>',
      'require a signature by this key (its thumbprint, or a file with its JWK); several: by one of them',
      (named: string, before: readonly string[] | undefined) => [...(before ?? []), named],
    )
    .option('--any-key', 'accept a signature by any key; without --key or this, the exit code is 4')
    .option('--checkpoint <file>', 'require that the log extends this earlier checkpoint')
    .addOption(jsonOption())
    .addHelpText('after', examples('verify mira.ndjson --key server.jwk --checkpoint checkpoint.note'))
    .action((file: string, options: VerifyOptions) => verify(terminal, file, options));
