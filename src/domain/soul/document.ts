import type { LeftOut } from '../npc/events.js';
import { defined } from '../shared/defined.js';
import type { JsonObject } from '../shared/json.js';
import { MAX_SOUL_LINKS } from './bounds.js';
import { type SoulState, soulStateOf } from './state.js';

/** A memory in a soul, with the names of contract 3.1 and 3.5. */
export type SoulMemory = {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  /** 0 to 1. */
  readonly importance: number;
  /** When it was stored: RFC 3339, UTC, milliseconds. */
  readonly timestamp: string;
  readonly confirmed: boolean;
  /** `{}` when there is none. */
  readonly metadata: JsonObject;
  /** The event that stored it, and the turn that it was part of. */
  readonly cause: { readonly turnId: string | null; readonly eventId: string; readonly revision: number };
};

/** A soul that a mind came from. */
export type CustodyLink = {
  readonly soulId: string;
  readonly txId: string;
  readonly issuer: string;
  readonly tenant: string;
  readonly npcId: string;
  /** The key that signed it. */
  readonly kid: string;
  /** Its root, base64url. */
  readonly root: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly importedAt: string;
};

/** Which server exported which mind, and what of it the soul knows. */
export type Provenance = {
  /** The server's public URL. */
  readonly issuer: string;
  readonly tenant: string;
  readonly npcId: string;
  /** Of the last event that the soul knows. */
  readonly revision: number;
  /** The hash of that event (docs/hash-chain.md), base64url. */
  readonly hash: string;
  /** Oldest first. */
  readonly chain: readonly CustodyLink[];
};

/** The tenant's default set when the soul was made; `digest` is the base64url SHA-256 of its JCS form. */
export type SoulRuleset = { readonly rulesetId: string; readonly version: number; readonly digest: string };

/** The soul document (contract 8.7). */
export type SoulDocument = {
  readonly id: string;
  readonly version: '1';
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly name: string;
  readonly npcId: string;
  /** Empty when none is recorded. */
  readonly persona: string;
  /** Always empty: the model is no part of a mind. */
  readonly baseModelWeights: '';
  /** What was left out on request (contract 8.10); absent when nothing was. */
  readonly without?: readonly LeftOut[];
  readonly state: SoulState;
  /** Oldest first. */
  readonly memories: readonly SoulMemory[];
  readonly ruleset: SoulRuleset | null;
  readonly provenance: Provenance;
  /** The root of its parts (parts.ts), base64url. */
  readonly trainingProof: string;
  /** A compact JWS (claims.ts). */
  readonly signature: string;
};

export type UnsignedSoul = Omit<SoulDocument, 'trainingProof' | 'signature'>;

/** What a soul is made from. */
export type SoulInputs = {
  readonly soulId: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly npcId: string;
  readonly persona: string | null;
  /** The mind's data, with the export's `npcState` merged over it. */
  readonly data: JsonObject | null;
  /** Oldest first. */
  readonly memories: readonly SoulMemory[];
  readonly ruleset: SoulRuleset | null;
  readonly provenance: Provenance;
  /** What the inputs above do not have any more. */
  readonly without?: readonly LeftOut[];
};

/** The text `data.name`, else the npcId. */
const nameOf = (npcId: string, data: JsonObject | null): string => {
  const name = data !== null && Object.hasOwn(data, 'name') ? data['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : npcId;
};

/** Makes a soul that nobody has signed yet. A chain that is too long loses its oldest links. Whether the soul is too large shows when it is signed. */
export const makeSoul = ({ soulId, createdAt, npcId, persona, data, memories, ...rest }: SoulInputs): UnsignedSoul => ({
  id: soulId,
  version: '1',
  createdAt,
  name: nameOf(npcId, data),
  npcId,
  persona: persona ?? '',
  baseModelWeights: '',
  ...defined({ without: rest.without }),
  state: soulStateOf(data),
  memories,
  ruleset: rest.ruleset,
  provenance: { ...rest.provenance, chain: rest.provenance.chain.slice(-MAX_SOUL_LINKS) },
});
