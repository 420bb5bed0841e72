import { custodyFold } from './custody-fold.js';
import type { Custody, CustodyEvent, SoulOwner } from './domain/custody.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { custodyStream, npcStream } from '../../kernel/base/stream-names.js';
import { mindFold } from '../npcs/mind-fold.js';
import { type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';

/** Until its mind is archived; a soul that has yet to arrive counts as live. */
const isLive = async ({ writers }: Pick<CommandDeps, 'writers'>, { tenant, npcId }: SoulOwner): Promise<boolean> =>
  !(await writers.current(npcStream(tenant, npcId), mindFold)).state.archived;

/** The mind of this server in which an imported soul lives or is about to live; null if there is none. */
export const ownerOf = async (deps: Pick<CommandDeps, 'writers'>, root: string): Promise<SoulOwner | null> => {
  const { owner } = (await deps.writers.current(custodyStream(root), custodyFold)).state;
  return owner !== null && (await isLive(deps, owner)) ? owner : null;
};

/**
 * Makes this import's mind the one in which the soul lives; a repeat changes nothing.
 * @returns whether it is; false while the soul lives in another one
 */
export const takeCustody = async (
  deps: CommandDeps,
  root: string,
  owner: SoulOwner,
  by: CommandContext,
): Promise<boolean> => {
  const stream = custodyStream(root);
  const known = (await deps.writers.current(stream, custodyFold)).state.owner;
  if (known?.importId === owner.importId) return true;
  if (known !== null && (await isLive(deps, known))) return false;
  const taken: CustodyEvent = { type: 'SoulTaken', data: owner };
  // Another import may have been faster, and whether its mind is live was not checked.
  const isFree = ({ owner: now }: Custody): boolean => now === null || now.importId === known?.importId;
  try {
    await runCommand(deps, stream, custodyFold, by, (custody) =>
      isFree(custody) ? [taken] : new Rejection('SOUL_ALREADY_LIVE'),
    );
  } catch (error) {
    if (error instanceof Rejection && error.code === 'SOUL_ALREADY_LIVE') return false;
    throw error;
  }
  return true;
};

/** Releases what `takeCustody` took; the custody of another import is kept. */
export const letGo = async (deps: CommandDeps, root: string, owner: SoulOwner, by: CommandContext): Promise<void> => {
  await runCommand(deps, custodyStream(root), custodyFold, by, (custody) =>
    custody.owner?.importId === owner.importId ? [{ type: 'SoulLetGo', data: owner } satisfies CustodyEvent] : [],
  );
};
