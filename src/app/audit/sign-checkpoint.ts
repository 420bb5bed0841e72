import { checkpointText } from '../../domain/audit/checkpoint.js';
import { fromHex, rootOfEdge, toHex } from '../../domain/audit/edge.js';
import type { LogState } from '../../domain/audit/log-state.js';
import { noteKeyId, writeNote } from '../../domain/audit/note.js';
import { consistencySpans, isConsistent } from '../../domain/audit/proofs.js';
import { logStream } from '../../domain/shared/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import type { CheckpointInput } from '../../../workflows/checkpoint.js';
import type { Lanes } from '../streams/lanes.js';
import { logFold } from './log.js';
import { openLogTree } from './log-tree.js';

export type SignDeps = {
  readonly lanes: Lanes;
  readonly events: EventStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly signingKeys: SigningKeys;
  /** How clients reach this server: a log is named after it, and keeps its first name. */
  readonly issuer: string;
};

/** The name of a tenant's log, which is also the name of its key in notes: these may hold no plus sign. */
const originOf = (issuer: string, tenant: string): string =>
  `${issuer.replace(/^https?:\/\//, '').replaceAll('+', '%2B')}/audit/${encodeURIComponent(tenant)}`;

/** Shows from the leaves in the log that it extends its last checkpoint. @throws Error where it does not */
const requireExtension = async (events: EventStore, stream: string, log: LogState, root: Uint8Array): Promise<void> => {
  if (log.last === null) return;
  const { size: earlier, root: earlierRoot } = log.last;
  const path =
    earlier === log.size ? [] : await openLogTree(events, stream, log).roots(consistencySpans(earlier, log.size));
  if (!isConsistent({ earlier, earlierRoot: fromHex(earlierRoot), size: log.size, root, path }))
    throw new Error(`the log ${stream} does not extend its checkpoint of size ${String(earlier)}: it was changed`);
};

/**
 * Signs the log as it is now, with the current key. Nothing is signed that does not extend what was signed before.
 * @throws Error when the log was changed: it is tried again until somebody has mended it
 */
export const signCheckpoint = async (
  { lanes, events, clock, signingKeys, issuer }: SignDeps,
  tenant: string,
  handsOn: boolean,
): Promise<Extract<CheckpointInput, { type: 'signed' }>> => {
  const stream = logStream(tenant);
  const { state: log } = await lanes.current(stream, logFold);
  const { size } = log;
  const root = rootOfEdge(log.edge);
  await requireExtension(events, stream, log, root);
  const origin = log.last?.origin ?? originOf(issuer, tenant);
  const at = clock.now().toISOString();
  const { kid } = signingKeys.current;
  const text = checkpointText({ origin, size, root, at });
  const { signature, x } = await signingKeys.signText(kid, text);
  const note = writeNote(text, { name: origin, keyId: noteKeyId(origin, x), signature });
  return { type: 'signed', origin, size, root: toHex(root), at, kid, note, handsOn };
};
