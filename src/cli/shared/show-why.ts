import type { MindRequest } from '../../body/mind-request.js';
import type { JsonMembers } from '../../body/protocol.js';
import { CommandFailed, print, printJson, type Terminal } from './terminal.js';
import { treeLines } from './tree.js';
import { whyTree } from './why-tree.js';

const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;

/** The newest turn that has ended. @throws CommandFailed when there is none */
const newestTurn = async (request: MindRequest, npcId: string): Promise<string> => {
  const [newest] = (await request('GET', `${pathOf(npcId)}/turns?state=ended&limit=1`)) as readonly {
    readonly turnId: string;
  }[];
  if (newest === undefined) throw new CommandFailed(`No turn of ${npcId} has ended yet.`);
  return newest.turnId;
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
  const of = turnId ?? (await newestTurn(request, npcId));
  const why = (await request('GET', `${pathOf(npcId)}/verdicts/${encodeURIComponent(of)}/why`)) as JsonMembers;
  if (json) printJson(terminal, why);
  else for (const line of treeLines(whyTree(why))) print(terminal, line);
};
