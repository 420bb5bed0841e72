import { Command } from 'commander';

import type { MemorySource } from '../../npcs/domain/events.js';
import type { LineageAnswer } from '../http/lineage.js';
import { openClient } from '../../../cli/shared/client.js';
import { short } from '../../../cli/shared/text.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { type Branch, treeLines } from '../../../cli/shared/tree.js';

/** Texts are cut to this many characters; `--json` shows them in full. */
const SHOWN = 200;

type LineagePage = (typeof LineageAnswer)['static'];
type Derived = LineagePage['derived'][number];

const quoted = (text: string): string => `"${short(text, SHOWN)}"`;

const causeOf = ({ memory, cause: { turnId, revision, at, by, observation } }: LineagePage): Branch => {
  const source = memory.source as MemorySource | undefined;
  return {
    text: `stored at revision ${String(revision)}, ${at}, by ${by}`,
    below: [
      ...(source === undefined
        ? []
        : [
            {
              text: `imported with soul ${source.soulId}, first stored there at revision ${String(source.revision)}`,
            },
          ]),
      ...(memory.player === undefined ? [] : [{ text: `player ${short(memory.player.id, SHOWN)}` }]),
      ...(turnId === null ? [] : [{ text: `turn ${turnId}` }]),
      ...(observation === undefined ? [] : [{ text: `perceived ${quoted(observation)}` }]),
    ],
  };
};

const retractedOf = ({ retracted }: LineagePage): readonly Branch[] =>
  retracted === null ? [] : [{ text: `retracted ${retracted.at} by ${retracted.by}: ${quoted(retracted.reason)}` }];

const recallOf = ({ turnId, at, similarity, match, verdict }: LineagePage['recalledBy'][number]): Branch => {
  const said =
    verdict === null
      ? 'no verdict'
      : `${verdict.valid ? (verdict.action?.type ?? 'nothing') : 'refused'} ${quoted(verdict.dialogue)}`;
  return { text: `turn ${turnId}, ${at}, matched by ${match}, similarity ${similarity.toFixed(2)}: ${said}` };
};

/** Each derived memory is listed under the first memory that it was derived from. */
const derivedUnder = (parents: ReadonlyMap<string, readonly Derived[]>, memoryId: string): readonly Branch[] =>
  (parents.get(memoryId) ?? []).map(({ memoryId: id, text, turnId, by, retracted }) => ({
    text: [
      `${retracted ? 'retracted ' : ''}${id} ${quoted(text)} stored in turn ${turnId}`,
      ...(by.length < 2 ? [] : [`, also from ${by.slice(1).join(', ')}`]),
    ].join(''),
    below: derivedUnder(parents, id),
  }));

const named = (text: string, below: readonly Branch[]): readonly Branch[] =>
  below.length === 0 ? [] : [{ text, below }];

/** The origin of a memory and what was derived from it, as a tree. */
const lineageTree = (page: LineagePage): Branch => {
  const { memory, recalledBy, derived } = page;
  const parents = new Map<string, Derived[]>();
  for (const one of derived) {
    const parent = one.by[0] ?? memory.memoryId;
    parents.set(parent, [...(parents.get(parent) ?? []), one]);
  }
  return {
    text: `${memory.memoryId} ${quoted(memory.text)}`,
    below: [
      causeOf(page),
      ...retractedOf(page),
      ...named('recalled by', recalledBy.map(recallOf)),
      ...named('derived', derivedUnder(parents, memory.memoryId)),
    ],
  };
};

const show = async (terminal: Terminal, npcId: string, memoryId: string, json: boolean): Promise<void> => {
  const request = await openClient(terminal);
  const path = `/npcs/${encodeURIComponent(npcId)}/memory/${encodeURIComponent(memoryId)}/lineage`;
  const pages: LineagePage[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const query = cursor === '' ? '' : `?${new URLSearchParams({ cursor }).toString()}`;
    const page = (await request('GET', `${path}${query}`)) as LineagePage;
    if (json) printJson(terminal, page);
    else pages.push(page);
    cursor = page.next;
  }
  const [first] = pages;
  if (first === undefined) return;
  const whole = {
    ...first,
    recalledBy: pages.flatMap(({ recalledBy }) => recalledBy),
    derived: pages.flatMap(({ derived }) => derived),
  };
  for (const line of treeLines(lineageTree(whole))) print(terminal, line);
  if (pages.some(({ cut }) => cut)) remark(terminal, 'The lineage is incomplete: it is too long to follow to the end.');
};

/** `anima lineage <npcId> <memoryId>`: the origin of a memory and what was derived from it. */
export const lineageCommand = (terminal: Terminal): Command =>
  new Command('lineage')
    .description('show where a memory comes from, which turns recalled it, and what was derived from it')
    .addArgument(npcIdArgument())
    .argument('<memoryId>', 'ID of the memory, as printed by "memories"')
    .addOption(jsonOption('page'))
    .addHelpText('after', examples('lineage mira <memoryId>'))
    .action((npcId: string, memoryId: string, { json = false }: { readonly json?: boolean }) =>
      show(terminal, npcId, memoryId, json),
    );
