import type { MindRequest } from '../../body/mind-request.js';
import { short, wrapped } from '../shared/text.js';
import type { Guest, GuestScene } from './scene/types.js';

/** What a guest said to the NPC, and what the NPC recalled and answered. */
export type GuestLine = {
  readonly by: string;
  readonly says: string;
  readonly dialogue: string;
  readonly recalled: readonly string[];
  /** Whether it recalled the secret. */
  readonly knows: boolean;
};

type Answer = { readonly dialogue: string; readonly memoriesRecalled: readonly string[] };

/**
 * Two players and one NPC, with the engine of the server: one tells a secret, the other one asks for it, and then the first one does.
 * @throws MindError
 */
export const playGuests = async (
  { teller, other, secret, question }: GuestScene,
  npcId: string,
  request: MindRequest,
): Promise<readonly GuestLine[]> => {
  const say = async (player: Guest, says: string): Promise<GuestLine> => {
    const path = `/v1/agents/${encodeURIComponent(npcId)}/process`;
    const { dialogue, memoriesRecalled } = (await request('POST', path, { input: says, player })) as Answer;
    return { by: player.name, says, dialogue, recalled: memoriesRecalled, knows: memoriesRecalled.includes(secret) };
  };
  const told = await say(teller, secret);
  const asked = await say(other, question);
  return [told, asked, await say(teller, question)];
};

/** Whether a guest other than the teller heard the secret. */
export const isTold = ({ other }: GuestScene, lines: readonly GuestLine[]): boolean =>
  lines.some(({ by, knows }) => by === other.name && knows);

/** A line for the terminal. */
export const showGuest = (name: string, { by, says, dialogue, recalled }: GuestLine): readonly string[] => {
  const [first] = recalled;
  return [
    ...wrapped(says, '        ', `  ${by} to ${name}: `),
    `        recalls   ${first === undefined ? 'nothing' : `“${short(first, 62)}”`}`,
    ...wrapped(`“${dialogue}”`, '         ', '        '),
    '',
  ];
};
