import { Command } from 'commander';

import type { Comparison } from '../compare.js';
import type { MindRequest } from '../../../body/mind-request.js';
import type { Finding } from '../domain/findings.js';
import { openClient } from '../../../cli/shared/client.js';
import { readJsonFile, writeTyped } from '../../../cli/shared/files.js';
import { findingLine, isShown } from './ghost-text.js';
import { sessionArgument } from './show.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { examples, jsonOption, outOption } from '../../../cli/shared/options.js';
import { counted } from '../../../cli/shared/text.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

/** The part of a reproduction that the commands read. */
type ReproFile = {
  readonly format?: string;
  readonly finding: { readonly kind: string; readonly subject: string };
  readonly steps: number;
  readonly minimal: boolean;
};

const FORMAT = 'anima-ghost-repro/1';
/** How many requests continue the search; each takes at most 10 s. */
const SEARCHES = 6;

type ReproOptions = { readonly out?: string; readonly json?: boolean };

/** `anima ghost repro <sessionId> <finding>`: the fewest steps that lead to a finding, for `replay`. */
export const reproCommand = (terminal: Terminal): Command =>
  new Command('repro')
    .description('find the fewest steps that lead to a finding, as a reproduction for "ghost replay"')
    .addArgument(sessionArgument())
    .argument('<finding>', 'number of the finding, as printed by "ghost results"', wholeFrom(1))
    .addOption(outOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ghost repro <sessionId> 1 --out finding.json', 'ghost replay finding.json'))
    .action(async (sessionId: string, n: number, { out, json = false }: ReproOptions) => {
      const request = await openClient(terminal);
      const path = `/ghost/${encodeURIComponent(sessionId)}/findings/${String(n)}/repro`;
      let repro = (await request('GET', path)) as ReproFile;
      for (let asked = 1; !repro.minimal && asked < SEARCHES; asked += 1) {
        remark(terminal, `Reproduced in ${counted(repro.steps, 'step', 'steps')}. Searching for a shorter way ...`);
        repro = (await request('GET', path)) as ReproFile;
      }
      if (json || out === undefined) printJson(terminal, repro);
      if (out === undefined) return;
      await writeTyped(terminal, out, `${JSON.stringify(repro, null, 2)}\n`);
      const { kind, subject } = repro.finding;
      const more = repro.minimal ? '' : ' A shorter way may exist: run the command again to continue the search.';
      remark(
        terminal,
        `Wrote ${out}: ${kind} ${subject} occurs after ${counted(repro.steps, 'step', 'steps')}.${more}`,
      );
    });

/** The current version of a level, in the form of a reproduction. */
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

/** `anima ghost replay <file>`: whether a finding still occurs. */
export const replayCommand = (terminal: Terminal): Command =>
  new Command('replay')
    .description('play a reproduction; fail if the finding no longer occurs, or with --mended if it still does')
    .argument('<file>', 'reproduction written by "ghost repro"')
    .option('--level <levelId>', 'play it in the current version of this level, not in the recorded level')
    .option('--mended', 'expect that the finding no longer occurs, to guard a fix against regressions')
    .addOption(jsonOption())
    .addHelpText('after', examples('ghost replay finding.json', 'ghost replay finding.json --level castle --mended'))
    .action(
      judging(async (file: string, { level, mended = false, json = false }: ReplayOptions) => {
        const repro = (await readJsonFile(terminal, file)) as ReproFile | null;
        if (repro?.format !== FORMAT)
          throw new CommandFailed(
            `${file} is not a reproduction. "npx anima ghost repro <sessionId> <finding> --out <file>" writes one.`,
          );
        const request = await openClient(terminal);
        const changed = level === undefined ? {} : await levelNow(request, level);
        const outcome = (await request('POST', '/ghost/replay', { ...repro, ...changed })) as {
          readonly reproduced: boolean;
          readonly steps: number;
        };
        if (json) printJson(terminal, outcome);
        const { kind, subject } = repro.finding;
        const steps = counted(outcome.steps, 'step', 'steps');
        const sentence = outcome.reproduced
          ? `${kind} ${subject} occurs after ${steps}.`
          : `${kind} ${subject} no longer occurs (played ${steps}).`;
        if (outcome.reproduced === mended) throw new JudgedNo(sentence);
        if (!json) print(terminal, sentence);
      }),
    );

type CompareOptions = { readonly all?: boolean; readonly json?: boolean };

/** `anima ghost compare <earlier> <later>`: which findings are new, and which are gone. */
export const compareCommand = (terminal: Terminal): Command =>
  new Command('compare')
    .description('compare the findings of two sessions; fail if the later one has new findings')
    .argument('<earlier>', 'ID of the earlier session')
    .argument('<later>', 'ID of the later session')
    .option('--all', 'also compare findings that fail no test')
    .addOption(jsonOption())
    .action(
      judging(async (earlier: string, later: string, { all = false, json = false }: CompareOptions) => {
        const request = await openClient(terminal);
        const path = `/ghost/${encodeURIComponent(earlier)}/compare/${encodeURIComponent(later)}`;
        const compared = (await request('GET', path)) as Comparison;
        const chosen = (findings: readonly Finding[]) => (all ? findings : findings.filter(isShown));
        const [added, gone, kept] = [chosen(compared.added), chosen(compared.gone), chosen(compared.kept)];
        if (json) printJson(terminal, compared);
        else {
          if (!compared.comparable) print(terminal, 'These sessions have different goals or levels.');
          for (const finding of added) print(terminal, `new   ${findingLine(finding)}`);
          for (const finding of gone) print(terminal, `gone  ${findingLine(finding)}`);
          print(terminal, `${String(added.length)} new, ${String(gone.length)} gone, ${String(kept.length)} unchanged`);
        }
        if (!compared.comparable)
          throw new CommandFailed('Only sessions with the same goal and level can be compared.');
        if (added.length > 0) throw new JudgedNo(`${counted(added.length, 'finding is', 'findings are')} new.`);
      }),
    );
