import { type Json, jcs } from '../../../kernel/base/json.js';
import type { NpcEvent, RecalledMemory } from '../../npcs/domain/events.js';
import { isEmpty, same } from './same.js';
import type { Tape } from './tape.js';
import { sha256Hex, shortDigest } from '../../../kernel/crypto/sha256.js';

export type Members = Extract<NpcEvent, { type: 'TapeMismatchNoticed' }>['data']['members'];

/** The parts of a turn that a tape can contradict; parts not recorded yet are absent. */
export type RecordedTape = Pick<Tape, 'observation' | 'context' | 'npcState'> & {
  readonly actor?: { readonly npcId: string };
  readonly memories?: readonly RecalledMemory[];
  readonly generatedOutput?: string;
};

/**
 * Longer values are noted as the digest of their JSON text, which is quick to compute, so a contradiction cannot fill a history. In characters of
 * JSON.
 */
const NOTED_LENGTH = 1_024;

/** How many different contradictions of one turn become events: a client whose tapes keep differing cannot fill a history. */
export const MISMATCHES_NOTED = 64;

/** Identifies a contradiction. It is a digest, because a turn remembers the contradictions that were noted. */
export const mismatchKey = (members: Members): string => shortDigest(jcs(members));

const noted = (value: Json): Json => {
  const text = JSON.stringify(value);
  if (text.length <= NOTED_LENGTH) return value;
  return { sha256: sha256Hex(text), characters: text.length };
};

const texts = (memories: readonly RecalledMemory[]): Json => memories.map(({ text }) => text);

/**
 * The members in which a tape differs from the record. JSON values are compared at single precision, and absent = null = empty. Results count only if
 * the client claims to have them. `constraints` is never compared, because clients add defaults to it.
 * @param npcId the NPC that the turn belongs to: an actor that is not recorded yet must be this one; null to allow any
 */
export const mismatches = (recorded: RecordedTape, tape: Tape, npcId: string | null): Members => {
  const actorId = recorded.actor?.npcId ?? npcId ?? undefined;
  const pairs: readonly (readonly [member: string, recorded: Json | undefined, received: Json | undefined])[] = [
    ['observation', recorded.observation, tape.observation],
    ['context', recorded.context, tape.context],
    ['npcState', recorded.npcState, tape.npcState],
    ['actor.npcId', actorId, actorId === undefined ? undefined : (tape.actor?.npcId ?? actorId)],
    ...(recorded.memories !== undefined && tape.vectorQueried
      ? [['memories', texts(recorded.memories), texts(tape.memories)] as const]
      : []),
    ...(recorded.generatedOutput !== undefined && !isEmpty(tape.generatedOutput)
      ? [['generatedOutput', recorded.generatedOutput, tape.generatedOutput] as const]
      : []),
  ];
  return pairs
    .filter(([, left, right]) => !same(left, right))
    .map(([member, left, right]) => ({ member, recorded: noted(left ?? null), received: noted(right ?? null) }));
};
