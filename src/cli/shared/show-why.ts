import type { MindRequest } from '../../body/mind-request.js';
import type { JsonMembers } from '../../body/protocol.js';
import { CommandFailed, print, printJson, remark, type Terminal } from './terminal.js';
import { treeLines } from './tree.js';
import { whyTree } from './why-tree.js';

const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;

type ListedTurn = { readonly turnId: string; readonly state: string };

/** How a turn came to its end without a verdict; any other state is that of an open turn. */
const FATES: Readonly<Record<string, string>> = { failed: 'failed', expired: 'expired' };

/** The newest turn that has ended; says so if a newer one has not. @throws CommandFailed when there is none */
const newestTurn = async (terminal: Terminal, request: MindRequest, npcId: string): Promise<string> => {
  const first = async (query: string): Promise<ListedTurn | undefined> =>
    ((await request('GET', `${pathOf(npcId)}/turns?${query}limit=1`)) as readonly ListedTurn[])[0];
  const ended = await first('state=ended&');
  const newest = await first('');
  const isOther = newest !== undefined && newest.turnId !== ended?.turnId && newest.state !== 'ended';
  const other = isOther
    ? `The newest turn, ${newest.turnId}, ${FATES[newest.state] ?? 'is still open'}: "anima why ${npcId} ${newest.turnId}" explains it.`
    : null;
  if (ended === undefined)
    throw new CommandFailed([`No turn of ${npcId} has ended yet.`, other ?? ''].join(' ').trim());
  if (other !== null) remark(terminal, other);
  return ended.turnId;
};

/** Prints why a turn came out as it did. @throws CommandFailed */
export const showWhy = async (
  terminal: Terminal,
  request: MindRequest,
  {
    npcId,
    turnId,
    json = false,
  }: { readonly npcId: string; readonly turnId?: string | undefined; readonly json?: boolean },
): Promise<void> => {
  const of = turnId ?? (await newestTurn(terminal, request, npcId));
  const why = (await request('GET', `${pathOf(npcId)}/verdicts/${encodeURIComponent(of)}/why`)) as JsonMembers;
  if (why['broken'] === true)
    remark(
      terminal,
      `What is stored of this turn is not what was recorded. "anima chain ${npcId}" and "anima audit ${npcId}" show more.`,
    );
  if (json) printJson(terminal, why);
  else for (const line of treeLines(whyTree(why))) print(terminal, line);
};
