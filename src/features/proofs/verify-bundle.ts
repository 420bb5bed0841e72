import { type Checkpoint, readCheckpoint } from './domain/checkpoint.js';
import { fromHex } from './domain/edge.js';
import { type Leaf, leafHash } from './domain/leaf.js';
import { signersOf } from './domain/note.js';
import { extensionReason } from './domain/extension.js';
import { isIncluded } from '../../kernel/crypto/merkle.js';
import {
  BundleBroken,
  type BundleEnd,
  type BundleEvent,
  type BundleHeader,
  type BundleKey,
  type BundleProof,
  type Culprit,
  require,
} from './read-bundle.js';

/** Checks what the log says about a bundle with nothing but the bundle's text, as examples/verify_history.py does. */

/** A key that a verifier names: its thumbprint, or the key itself, which then need not be in the bundle. */
export type NamedKey = BundleKey | { readonly kid: string };

/** The input of a verifier. `keys`: one of them must have signed. `kept`: the note of a checkpoint that was kept, for the name of a log. */
export type Trust = { readonly keys?: readonly NamedKey[]; readonly kept?: (origin: string) => string };

/** The log's statement about a bundle, after checking. */
export type Logged = {
  readonly checkpoint: Checkpoint;
  readonly kid: string;
  /** Other keys of the bundle, or of the verifier, that signed the same checkpoint. */
  readonly alsoSignedBy: readonly string[];
  readonly leaf: Leaf;
  /** The size of the kept checkpoint that it extends, or equals; null if none was given. */
  readonly extendsSize: number | null;
};

/** How a checkpoint is called in a reason. */
type Source = { readonly name: string; readonly culprit: Culprit };
const IN_BUNDLE: Source = { name: 'the checkpoint in the bundle', culprit: 'bundle' };
const KEPT: Source = { name: 'the kept checkpoint', culprit: 'checkpoint' };

const signedBy = (
  note: string,
  { name, culprit }: Source,
  keys: readonly BundleKey[],
  { keys: named }: Trust,
): Pick<Logged, 'checkpoint' | 'kid' | 'alsoSignedBy'> => {
  const read = readCheckpoint(note);
  if (read === null) throw new BundleBroken(`${name} is not a note of a log`, culprit);
  const given = (named ?? []).filter((key) => 'x' in key);
  const known = new Map([...keys, ...given].map((key) => [key.kid, key])).values();
  const kids = signersOf(read.note, read.checkpoint.origin, [...known]).map((key) => key.kid);
  if (kids.length === 0) throw new BundleBroken(`${name} is not signed by a key of the bundle`, culprit);
  // The newest key comes last.
  const kid = kids.findLast((one) => named?.some((key) => key.kid === one) ?? true);
  if (kid === undefined) {
    const wanted = (named ?? []).map((key) => key.kid).join(' or ');
    throw new BundleBroken(`${name} is signed by the key ${kids.join(' and ')}, not by ${wanted}`, 'key');
  }
  return { checkpoint: read.checkpoint, kid, alsoSignedBy: kids.filter((one) => one !== kid) };
};

const requireExtends = ({ extends: shown }: BundleProof, checkpoint: Checkpoint, kept: Checkpoint): void => {
  const isBetween = kept.origin === checkpoint.origin && kept.size > 0 && kept.size < checkpoint.size;
  require(!isBetween ||
    shown?.from ===
      kept.size, `the bundle does not prove that it extends size ${String(kept.size)}; create it with --checkpoint, or with ?extends=`, 'checkpoint');
  const reason = extensionReason(kept, checkpoint, (shown?.path ?? []).map(fromHex));
  if (reason !== null) throw new BundleBroken(reason, 'checkpoint');
};

/** What a bundle's last line proves: what the log says about its events, or else the revision beyond it up to which the log covers the mind. */
export type Proven = { readonly logged: Logged | null; readonly beyond: number | null };

const requirePlace = (header: BundleHeader, { revision }: Leaf, last: number | null): void => {
  require(revision > header.to && last !== null && last >= header.to, 'its last revision does not fit its leaf');
  if (last !== null && revision > last)
    throw new BundleBroken(
      `the history was cut: the log contains its revision ${String(revision)}, but it ends at ${String(last)}, so revisions ${String(last + 1)} to ${String(revision)} are missing`,
    );
};

/**
 * Checks the log's statement about a bundle.
 * @param covered the event at the revision of the proof's leaf, as it is in the bundle
 * @throws BundleBroken
 */
export const checkProof = (
  header: BundleHeader,
  { proof, last }: Pick<BundleEnd, 'proof' | 'last'>,
  covered: BundleEvent | null,
  trust: Trust,
): Proven => {
  const isAsked = trust.keys !== undefined || trust.kept !== undefined;
  if (proof === null) {
    require(header.version === 1, 'its proof is missing');
    require(!isAsked, NO_PROOF, 'proof');
    return { logged: null, beyond: null };
  }
  const { leaf, size, index } = proof;
  require(leaf.stream === header.stream, 'the leaf belongs to another stream');
  if (header.version === 1)
    require(covered !== null &&
      covered.hash === leaf.hash &&
      covered.at === leaf.at &&
      covered.revision === leaf.revision, covered === null && leaf.revision > header.to
      ? `events are missing: the log contains revision ${String(leaf.revision)}, but the bundle ends at ${String(header.to)}`
      : 'the leaf is not an event of this bundle');
  const signed = signedBy(proof.note, IN_BUNDLE, header.keys, trust);
  const { checkpoint } = signed;
  require(checkpoint.size === size, 'the checkpoint and the proof have different sizes');
  const path = proof.path.map(fromHex);
  const inclusion = { leaf: leafHash(leaf), place: index, leaves: size, path };
  require(isIncluded(inclusion, checkpoint.root), 'the leaf is not in the signed log');
  // The caller may not have asked for it, but every statement in a bundle must hold.
  if (proof.extends !== undefined)
    require(proof.extends.from >= 1 && proof.extends.from <= size, 'its extension is invalid');
  const kept =
    trust.kept === undefined ? null : signedBy(trust.kept(checkpoint.origin), KEPT, header.keys, trust).checkpoint;
  if (kept !== null) requireExtends(proof, checkpoint, kept);
  if (header.version === 1) return { logged: { ...signed, leaf, extendsSize: kept?.size ?? null }, beyond: null };
  requirePlace(header, leaf, last);
  require(!isAsked, beyondSentence(leaf.revision), 'proof');
  return { logged: null, beyond: leaf.revision };
};

/** Why a bundle without a proof is not proven, without a full stop. */
export const NO_PROOF =
  'the bundle has no proof from the log, which did not cover these events when the bundle was made';

/** Why a bundle that ends before the next head in the log is not proven, and what to do, without a full stop. */
export const beyondSentence = (revision: number): string =>
  `the log covers this NPC up to revision ${String(revision)}, beyond this bundle: export up to ${String(revision)} to prove it`;
