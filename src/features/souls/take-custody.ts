import { chainOf } from './custody-chain.js';
import { custodyFold } from './custody-fold.js';
import type { CustodyEvent, SoulOwner } from './domain/custody.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { custodyStream, npcStream, parseNpcStream } from '../../kernel/base/stream-names.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { MindState } from '../npcs/domain/state.js';
import { type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import type { Claim } from '../../kernel/streams/stream-writer.js';

/**
 * Whether an owner's mind is live, until it is archived. A soul that has yet to arrive counts as live, and so does one whose mind is about to be
 * revived.
 */
const isLive = async (
  { writers }: Pick<CommandDeps, 'writers'>,
  { tenant, npcId, revivedAfter }: SoulOwner,
): Promise<boolean> => {
  const { state, revision } = await writers.current(npcStream(tenant, npcId), mindFold);
  return !state.archived || revision === revivedAfter;
};

/** The mind of this server in which an imported soul lives or is about to live; null if there is none. */
export const ownerOf = async (deps: Pick<CommandDeps, 'writers'>, root: string): Promise<SoulOwner | null> => {
  const { owner } = (await deps.writers.current(custodyStream(root), custodyFold)).state;
  return owner !== null && (await isLive(deps, owner)) ? owner : null;
};

const isSameTaking = (one: SoulOwner, other: SoulOwner): boolean =>
  one.importId === other.importId && one.revivedAfter === other.revivedAfter;

/**
 * Makes this import's mind the one in which the soul lives; a repeat changes nothing. A mind that is to be revived takes it again, even if it was the
 * last to have it: this is what another import sees that looks for its owner meanwhile.
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
  const isOther = known !== null && known.importId !== owner.importId;
  if (isOther && (await isLive(deps, known))) return false;
  const taken: CustodyEvent = { type: 'SoulTaken', data: owner };
  try {
    await runCommand(deps, stream, custodyFold, by, ({ owner: now }) => {
      if (now?.importId === owner.importId)
        return owner.revivedAfter === undefined || isSameTaking(now, owner) ? [] : [taken];
      // Another mind may have been faster, and whether it is live was not checked.
      const isFree = now === null || (known !== null && isSameTaking(now, known));
      return isFree ? [taken] : new Rejection('SOUL_ALREADY_LIVE');
    });
  } catch (error) {
    if (error instanceof Rejection && error.code === 'SOUL_ALREADY_LIVE') return false;
    throw error;
  }
  return true;
};

const LIVES_ELSEWHERE =
  'The soul of this archived NPC was imported again and lives in another NPC of this server. Archive that one first.';

/** Takes the soul of an archived mind again before an act revives it. A copy needs no custody. */
export const claimSoul =
  (depsOf: () => CommandDeps): Claim =>
  async (stream, { state, revision }, { correlationId }) => {
    const deps = depsOf();
    const mind = parseNpcStream(stream);
    const { origin } = state as MindState;
    if (mind === null || origin === null) return;
    const { copy, chain } = await chainOf(deps.events, stream, origin);
    const root = chain.at(-1)?.root;
    if (copy || root === undefined) return;
    const { importId } = origin;
    const commandId = `revival_${importId}_${String(revision)}`;
    const by = { tenant: mind.tenant, actor: 'system', commandId, correlationId, causationId: null };
    if (await takeCustody(deps, root, { ...mind, importId, revivedAfter: revision }, by)) return;
    throw new Rejection('SOUL_ALREADY_LIVE', { message: LIVES_ELSEWHERE });
  };

/** Releases what `takeCustody` took; the custody of another import is kept. */
export const letGo = async (deps: CommandDeps, root: string, owner: SoulOwner, by: CommandContext): Promise<void> => {
  await runCommand(deps, custodyStream(root), custodyFold, by, (custody) =>
    custody.owner?.importId === owner.importId ? [{ type: 'SoulLetGo', data: owner } satisfies CustodyEvent] : [],
  );
};
