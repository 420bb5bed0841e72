import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { NpcEvent } from '../npcs/domain/events.js';

export type WithdrawDeps = CommandDeps & { readonly archive: Pick<SoulArchive, 'withdraw'> };

/** A soul of the command's tenant: its export, the id under which the archive has it, and the digest of its payload there. */
export type Withdrawal = {
  readonly npcId: string;
  readonly soulId: string;
  readonly txId: string;
  readonly digest: string;
};

/**
 * Records in the history of a soul's NPC that the soul is withdrawn, then removes its payload. If the server stops in between, a repeat records it once
 * more and removes it: a removal is never unrecorded. An archived NPC stays archived. Without a history (the event store was lost), nothing is recorded.
 * @returns the global position of the record; 0 without one
 * @throws Rejection CONFLICT, SOUL_ARRIVING, and what the event store and the archive throw
 */
export const withdrawSoul = async (
  { archive, ...deps }: WithdrawDeps,
  { npcId, soulId, txId, digest }: Withdrawal,
  command: Command,
): Promise<{ readonly position: number }> => {
  const withdrawn: NpcEvent = { type: 'SoulWithdrawn', data: { soulId, txId } };
  const { position } = await runCommand(deps, npcStream(command.tenant, npcId), mindFold, command, ({ revision }) =>
    revision < 0 ? [] : [withdrawn],
  );
  await archive.withdraw(digest);
  return { position };
};
