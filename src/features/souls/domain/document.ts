import { defined } from '../../../kernel/base/defined.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { MAX_SOUL_LINKS } from './bounds.js';
import type { soulSchema } from './soul-schema.js';
import { soulStateOf } from './soul-state.js';

/** The soul document. */
export type SoulDocument = (typeof soulSchema)['static'];
export type SoulMemory = SoulDocument['memories'][number];
/** A soul that a mind descends from. */
export type CustodyLink = SoulDocument['provenance']['chain'][number];
/** What an export may leave out: what is said of players. */
export type LeftOut = 'players';

export type UnsignedSoul = Omit<SoulDocument, 'trainingProof' | 'signature'>;

/** The inputs from which a soul is made. */
export type SoulInputs = {
  readonly soulId: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly npcId: string;
  readonly persona: string | null;
  /** The mind's data, with the export's `npcState` merged over it. */
  readonly data: JsonObject | null;
  /** What the game reported of the mind. */
  readonly facts?: JsonObject | null;
  /** Oldest first. */
  readonly memories: readonly SoulMemory[];
  readonly ruleset: SoulDocument['ruleset'];
  readonly provenance: SoulDocument['provenance'];
  /** What was removed from the inputs above. */
  readonly without?: readonly LeftOut[];
};

/** The string `data.name`, otherwise the npcId. */
const nameOf = (npcId: string, data: JsonObject | null): string => {
  const name = data !== null && Object.hasOwn(data, 'name') ? data['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : npcId;
};

const hasMembers = (facts: JsonObject | null | undefined): facts is JsonObject =>
  facts !== null && facts !== undefined && Object.keys(facts).length > 0;

/** Makes an unsigned soul. A chain that is too long loses its oldest links. Whether the soul is too large is checked when it is signed. */
export const makeSoul = ({
  soulId,
  createdAt,
  npcId,
  persona,
  data,
  facts,
  memories,
  ...rest
}: SoulInputs): UnsignedSoul => ({
  id: soulId,
  version: '1',
  createdAt,
  name: nameOf(npcId, data),
  npcId,
  persona: persona ?? '',
  baseModelWeights: '',
  ...defined({ without: rest.without }),
  state: soulStateOf(data),
  ...(hasMembers(facts) ? { facts } : {}),
  memories,
  ruleset: rest.ruleset,
  provenance: { ...rest.provenance, chain: rest.provenance.chain.slice(-MAX_SOUL_LINKS) },
});
