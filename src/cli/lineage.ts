import { Command } from 'commander';

import { openClient } from './client.js';
import { type LineagePage, lineageTree } from './lineage-tree.js';
import { print, printJson, remark, type Terminal } from './terminal.js';
import { treeLines } from './tree.js';

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
  if (pages.some(({ cut }) => cut)) remark(terminal, 'It goes further than a lineage is followed.');
};

/** `anima lineage <npcId> <memoryId>`: where a memory comes from, and what came of it. */
export const lineageCommand = (terminal: Terminal): Command =>
  new Command('lineage')
    .description('show where a memory comes from, which turns recalled it, and what was derived from it')
    .argument('<npcId>')
    .argument('<memoryId>', '"anima memories --json" shows the ids')
    .option('--json', 'print each page as a line of JSON')
    .action((npcId: string, memoryId: string, { json = false }: { readonly json?: boolean }) =>
      show(terminal, npcId, memoryId, json),
    );
