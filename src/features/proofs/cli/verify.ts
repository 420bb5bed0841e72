import { stat } from 'node:fs/promises';

import { Command } from 'commander';

import { type BundleKey, keyOfJwk, type Trust } from '../verify-bundle.js';
import { readCheckpoint } from '../domain/checkpoint.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { readJson } from '../../../kernel/base/read-json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { LineBroken, verifyBundleFile, type WholeBundle } from './bundle-file.js';
import { fileOf, readTyped } from '../../../cli/shared/files.js';
import { CommandFailed, print, printJson, type Terminal } from '../../../cli/shared/terminal.js';

type VerifyOptions = { readonly key?: string; readonly checkpoint?: string; readonly json?: true };

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

/** A key that was named: a thumbprint, or a file with a JWK. */
const trustedKey = async (terminal: Terminal, named: string): Promise<BundleKey | { readonly kid: string }> => {
  if (THUMBPRINT.test(named)) return { kid: named };
  const key = keyOfJwk(parsed(await readText(terminal, named)));
  if (key === null)
    throw new CommandFailed(`${named} is neither a thumbprint of 43 characters nor a file with an Ed25519 JWK.`);
  return key;
};

/**
 * A checkpoint that was kept: the file of a note, or the last line of what ANIMA_CHECKPOINT_URL appends to.
 * @throws CommandFailed when the file holds none: the bundle must not be blamed for it
 */
export const keptCheckpoint = async (
  terminal: Terminal,
  file: string,
): Promise<{ readonly note: string; readonly size: number }> => {
  const text = await readText(terminal, file);
  const last = parsed(text.trimEnd().split('\n').at(-1) ?? '');
  const note = isObject(last) && typeof last['note'] === 'string' ? last['note'] : text;
  const read = readCheckpoint(note);
  if (read === null)
    throw new CommandFailed(
      `${file} is not a checkpoint of a log. It must be what "anima checkpoint --out" wrote, or what ANIMA_CHECKPOINT_URL appends to.`,
    );
  return { note, size: read.checkpoint.size };
};

const told = ({ header, logged }: WholeBundle, isNamed: boolean): readonly string[] => {
  const { npcId, tenant, from, to } = header;
  const count = to - from + 1;
  const lines = [
    `Whole: ${String(count)} event${count === 1 ? '' : 's'} of ${npcId} (tenant ${tenant}), revisions ${String(from)} to ${String(to)}. None was changed, left out or moved since its hash was made.`,
  ];
  if (logged === null)
    return [
      ...lines,
      'Not proven: that this is the original. The log of the tenant holds no head of these events yet.',
    ];
  const { checkpoint, kid, leaf, extendsSize } = logged;
  const covered = leaf.revision - from + 1;
  lines.push(
    `Proven: the ${String(covered)} event${covered === 1 ? '' : 's'} up to revision ${String(leaf.revision)} stood in the log ${checkpoint.origin} when it was signed, at ${checkpoint.at} by the signer's clock, which held ${String(checkpoint.size)} head${checkpoint.size === 1 ? '' : 's'} of minds by then.`,
    `Signed by the key ${kid}${isNamed ? ', the one that was named.' : '. The bundle brought that key itself: compare it with the one that you know, or name it with --key.'}`,
  );
  if (leaf.revision < to)
    lines.push(
      `Not proven: the ${String(to - leaf.revision)} event${to - leaf.revision === 1 ? '' : 's'} after it. Only their hash chain holds.`,
    );
  lines.push(
    extendsSize === null
      ? 'Not checked: whether the log was cut or forked. Name a checkpoint that was kept with --checkpoint.'
      : `The log extends the checkpoint of size ${String(extendsSize)} that was kept.`,
    'Never proven: that what was recorded is true, that everything was recorded, and that nothing came after these events.',
  );
  return lines;
};

const jsonOf = ({ header, last, logged }: WholeBundle): object => ({
  valid: true,
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
    revision: logged.leaf.revision,
    extends: logged.extendsSize,
  },
});

const verify = async (terminal: Terminal, file: string, options: VerifyOptions): Promise<void> => {
  const trust: Trust = {
    ...(options.key === undefined ? {} : { key: await trustedKey(terminal, options.key) }),
    ...(options.checkpoint === undefined ? {} : { kept: (await keptCheckpoint(terminal, options.checkpoint)).note }),
  };
  let whole: WholeBundle;
  try {
    const path = fileOf(terminal, file);
    // Its end is looked at first.
    if (!(await stat(path)).isFile())
      throw new CommandFailed(`${file} is not a plain file: write the bundle to one first.`);
    whole = await verifyBundleFile(path, trust);
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    if (error instanceof LineBroken) {
      const { line, revision, message } = error;
      if (options.json) printJson(terminal, { valid: false, line, revision, reason: message });
      const event = revision === null ? '' : ` (revision ${String(revision)})`;
      throw new CommandFailed(`Broken at line ${String(line)}${event}: ${message}.`);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandFailed(`${file} cannot be read (${code}).`);
  }
  if (options.json) printJson(terminal, jsonOf(whole));
  else for (const line of told(whole, options.key !== undefined)) print(terminal, line);
};

/** `anima verify <file>`: whether a bundle holds; it asks no server. */
export const verifyCommand = (terminal: Terminal): Command =>
  new Command('verify')
    .description('check a bundle offline: its chain, and what the log of its tenant says of it')
    .argument('<file>', 'what "anima bundle" wrote')
    .option('--key <kid or file>', 'the key that must have signed: its thumbprint, or a file with its JWK')
    .option('--checkpoint <file>', 'a checkpoint that was kept, which the log must extend')
    .option('--json', 'print the result as a line of JSON')
    .action((file: string, options: VerifyOptions) => verify(terminal, file, options));
