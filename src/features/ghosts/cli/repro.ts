import { Command } from 'commander';

import type { Comparison } from '../compare.js';
import type { MindRequest } from '../../../body/mind-request.js';
import type { Finding } from '../domain/findings.js';
import { openClient } from '../../../cli/shared/client.js';
import { readJsonFile, writeTyped } from '../../../cli/shared/files.js';
import { findingLine, isShown } from './ghost-text.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

/** The part of a reproduction that the commands read. */
type ReproFile = {
  readonly format?: string;
  readonly finding: { readonly kind: string; readonly subject: string };
  readonly steps: number;
  readonly minimal: boolean;
};

const FORMAT = 'anima-ghost-repro/1';
/** How often a search is asked to go on: each takes 10 s at most. */
const SEARCHES = 6;

type ReproOptions = { readonly out?: string; readonly json?: boolean };

/** `anima ghost repro <session> <n>`: the shortest way to a finding, as a file to be replayed. */
export const reproCommand = (terminal: Terminal): Command =>
  new Command('repro')
    .description('the fewest steps that still lead to a finding, as a file that "replay" takes')
    .argument('<session>')
    .argument('<n>', 'the number of the finding', wholeFrom(1))
    .option('--out <file>', 'where to write it; without it, it goes to the output')
    .option('--json', 'print it as a line of JSON, also if it is written to a file')
    .action(async (sessionId: string, n: number, { out, json = false }: ReproOptions) => {
      const request = await openClient(terminal);
      const path = `/ghost/${encodeURIComponent(sessionId)}/findings/${String(n)}/repro`;
      let repro = (await request('GET', path)) as ReproFile;
      for (let asked = 1; !repro.minimal && asked < SEARCHES; asked += 1) {
        remark(terminal, `${String(repro.steps)} steps so far ...`);
        repro = (await request('GET', path)) as ReproFile;
      }
      if (json || out === undefined) printJson(terminal, repro);
      if (out === undefined) return;
      await writeTyped(terminal, out, `${JSON.stringify(repro, null, 2)}\n`);
      const { kind, subject } = repro.finding;
      const more = repro.minimal ? '' : ' Fewer may do: run the command again, and the search goes on.';
      remark(terminal, `${kind} ${subject} comes about in ${String(repro.steps)} steps: ${out}.${more}`);
    });

/** A registered level as it is now, as a reproduction names one. */
const levelNow = async (request: MindRequest, name: string): Promise<object> => {
  const { levelId, version, digest, map } = (await request('GET', `/levels/${encodeURIComponent(name)}`)) as {
    readonly levelId: string;
    readonly version: number | null;
    readonly digest: string;
    readonly map: unknown;
  };
  return { level: { levelId, version, digest, generated: false }, map };
};

type ReplayOptions = { readonly level?: string; readonly mended?: boolean; readonly json?: boolean };

/** `anima ghost replay <file>`: whether a finding still comes about. */
export const replayCommand = (terminal: Terminal): Command =>
  new Command('replay')
    .description('play a reproduction again; fails if the finding does not come about, or with --mended if it does')
    .argument('<file>', 'what "repro" wrote')
    .option('--level <name>', 'play it in this level as it is now, instead of as it was')
    .option('--mended', 'the finding must not come about any more: for a pipeline that keeps what was mended mended')
    .option('--json', 'print the outcome as a line of JSON')
    .action(
      judging(async (file: string, { level, mended = false, json = false }: ReplayOptions) => {
        const repro = (await readJsonFile(terminal, file)) as ReproFile | null;
        if (repro?.format !== FORMAT)
          throw new CommandFailed(
            `${file} is no reproduction: "anima ghost repro <session> <n> --out <file>" writes one.`,
          );
        const request = await openClient(terminal);
        const changed = level === undefined ? {} : await levelNow(request, level);
        const outcome = (await request('POST', '/ghost/replay', { ...repro, ...changed })) as {
          readonly reproduced: boolean;
          readonly steps: number;
        };
        if (json) printJson(terminal, outcome);
        const { kind, subject } = repro.finding;
        const steps = `${String(outcome.steps)} steps`;
        const sentence = outcome.reproduced
          ? `${kind} ${subject} comes about in ${steps}.`
          : `${kind} ${subject} no longer comes about (${steps}).`;
        if (outcome.reproduced === mended) throw new JudgedNo(sentence);
        if (!json) print(terminal, sentence);
      }),
    );

type CompareOptions = { readonly all?: boolean; readonly json?: boolean };

/** `anima ghost compare <session> <other>`: what is new since an earlier session, and what is gone. */
export const compareCommand = (terminal: Terminal): Command =>
  new Command('compare')
    .description('what a later session found and an earlier one did not, and the reverse; fails if something is new')
    .argument('<earlier>')
    .argument('<later>')
    .option('--all', 'count also what fails no test')
    .option('--json', 'print the comparison as a line of JSON')
    .action(
      judging(async (earlier: string, later: string, { all = false, json = false }: CompareOptions) => {
        const request = await openClient(terminal);
        const path = `/ghost/${encodeURIComponent(earlier)}/compare/${encodeURIComponent(later)}`;
        const compared = (await request('GET', path)) as Comparison;
        const counted = (findings: readonly Finding[]) => (all ? findings : findings.filter(isShown));
        const [added, gone, kept] = [counted(compared.added), counted(compared.gone), counted(compared.kept)];
        if (json) printJson(terminal, compared);
        else {
          if (!compared.comparable) print(terminal, 'These sessions played for another goal or in another level.');
          for (const finding of added) print(terminal, `new   ${findingLine(finding)}`);
          for (const finding of gone) print(terminal, `gone  ${findingLine(finding)}`);
          print(terminal, `${String(added.length)} new, ${String(gone.length)} gone, ${String(kept.length)} as before`);
        }
        if (!compared.comparable) throw new CommandFailed('Compare sessions of one goal and one level.');
        if (added.length > 0) throw new JudgedNo(`${String(added.length)} findings are new.`);
      }),
    );
