import { Command } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { asOfOf, fromOf } from '../../../cli/shared/since.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { short } from '../../../cli/shared/text.js';
import { defined } from '../../../kernel/base/defined.js';
import type { NpcChanges } from '../http/changes.js';

/** Values are cut to this many characters; `--json` shows them in full. */
const SHOWN = 120;

type Changes = (typeof NpcChanges)['static'];
type ChangesOptions = { readonly from: string; readonly to?: string; readonly json?: true };

/** Texts keep their quotes, so that "5" is not 5. */
const valueText = (value: unknown): string => (value === undefined ? '(none)' : short(JSON.stringify(value), SHOWN));

const show = async (terminal: Terminal, npcId: string, { from, to, json }: ChangesOptions): Promise<void> => {
  const request = await openClient(terminal);
  const query = new URLSearchParams({ from, ...defined({ to }) });
  const path = `/npcs/${encodeURIComponent(npcId)}/changes?${query.toString()}`;
  const found = (await request('GET', path)) as Changes;
  if (json) {
    printJson(terminal, found);
    return;
  }
  for (const { path: at, before, after } of found.changes)
    print(terminal, `${at === '' ? '/' : at}: ${valueText(before)} -> ${valueText(after)}`);
  const moment = ({ revision, at }: Changes['from']): string => `revision ${String(revision)} (${at})`;
  const span = `from ${moment(found.from)} to ${moment(found.to)}`;
  remark(terminal, found.changes.length === 0 ? `No changes ${span}.` : `Compared ${span}.`);
};

/** `anima changes <npcId>`: what differs between the states of an NPC at two moments. */
export const changesCommand = (terminal: Terminal): Command =>
  new Command('changes')
    .description('compare an NPC at two moments, one changed member of its state per line')
    .addArgument(npcIdArgument())
    .requiredOption(
      '--from <revision|time>',
      'the earlier moment: a revision, an age (7d, 12h, 30m), a day (its beginning, UTC) or a time (2026-07-01T09:30:00Z)',
      fromOf(Date.now),
    )
    .option(
      '--to <revision|time>',
      'the later moment, in the same formats; a day is included in full (default: now)',
      asOfOf(Date.now),
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('changes mira --from 7d', 'changes mira --from 12 --to 40'))
    .action((npcId: string, options: ChangesOptions) => show(terminal, npcId, options));
