import { payloadDocument } from '../payload-document.js';
import { verifySoul, type SoulVerification } from '../verify-soul.js';
import { beginsAsPng } from '../../../kernel/crypto/png.js';
import { MAX_SOUL_BYTES } from '../domain/bounds.js';
import { aCard } from '../../../cli/shared/file-kinds.js';
import { readTyped } from '../../../cli/shared/files.js';
import { CommandFailed, type Terminal } from '../../../cli/shared/terminal.js';

/** The largest file that is read: white space or CBOR can make a file larger than the measured size of its soul. */
const MAX_FILE_BYTES = 4 * MAX_SOUL_BYTES;

/** Other reasons why a document is not accepted. */
const ALSO_REFUSED =
  'Ambiguous JSON (a duplicate member, an integer that loses digits) and documents with too many values are not accepted either.';

/** Why a soul is not valid. */
const REASONS: Readonly<Record<Extract<SoulVerification, { valid: false }>['reason'], string>> = {
  malformed: 'it is not a soul document, or its signature has the wrong form',
  too_large: 'it exceeds the size limit of a soul',
  bad_signature: 'the key that it names did not make its signature',
  wrong_root: 'its content differs from the signed content',
  wrong_parts: 'it has more or fewer parts than were signed',
  other_soul: 'its signature belongs to another soul',
  claims_our_server: 'it claims to come from this server, but does not',
  untrusted_signer: 'its signer is not trusted',
  revoked_key: 'the key that signed it was revoked as of an earlier time',
};

/** The document in a file: JSON, or CBOR. @throws CommandFailed */
export const readSoulFile = async (terminal: Terminal, file: string): Promise<unknown> => {
  const bytes = await readTyped(terminal, file);
  if (bytes.length > MAX_FILE_BYTES)
    throw new CommandFailed(`${file} is larger than ${String(MAX_FILE_BYTES / 1_048_576)} MiB, the limit for a soul.`);
  const document = await payloadDocument(bytes);
  if (document === null && beginsAsPng(bytes)) throw new CommandFailed(aCard(file));
  if (document === null)
    throw new CommandFailed(`${file} is neither JSON nor the binary form of a soul. ${ALSO_REFUSED}`);
  return document;
};

/** Checks a soul with the key that it contains: offline, no other keys are known. */
export const verifiedOffline = (document: unknown): Promise<SoulVerification> =>
  verifySoul(document, {
    keys: { publicKey: () => Promise.resolve(undefined), isVoid: () => false },
    issuer: '',
    trusted: null,
  });

export const whyInvalid = (
  file: string,
  reason: Extract<SoulVerification, { valid: false }>['reason'],
): CommandFailed => new CommandFailed(`${file} is not valid (${reason}): ${REASONS[reason]}.`);
