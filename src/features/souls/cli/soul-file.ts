import { payloadDocument } from '../payload-document.js';
import { verifySoul, type SoulVerification } from '../verify-soul.js';
import { MAX_SOUL_BYTES } from '../domain/bounds.js';
import { readTyped } from '../../../cli/shared/files.js';
import { CommandFailed, type Terminal } from '../../../cli/shared/terminal.js';

/** The longest file that is read: with white space, or as CBOR, a soul takes more bytes than it is measured by. */
const MAX_FILE_BYTES = 4 * MAX_SOUL_BYTES;

/** What is not read either. */
const ALSO_NONE =
  'JSON that two readers could read differently is none (a member twice, an integer that would come back in other digits), nor is what holds more values than a soul may.';

/** What a soul is not, in words. */
const REASONS: Readonly<Record<Extract<SoulVerification, { valid: false }>['reason'], string>> = {
  malformed: 'it is not a soul document, or its signature is not one of a soul',
  too_large: 'it is larger than a soul may be',
  bad_signature: 'its signature was not made by the key that it names',
  wrong_root: 'its parts are not those that were signed',
  wrong_parts: 'it has more or fewer parts than were signed',
  other_soul: 'its signature belongs to another soul',
  claims_our_server: 'it claims to come from this server, and does not',
  untrusted_signer: 'its signer is not trusted',
};

/** The document in a file: JSON, or CBOR. @throws CommandFailed */
export const readSoulFile = async (terminal: Terminal, file: string): Promise<unknown> => {
  const bytes = await readTyped(terminal, file);
  if (bytes.length > MAX_FILE_BYTES) throw new CommandFailed(`${file} is larger than a soul may be.`);
  const document = await payloadDocument(bytes);
  if (document === null) throw new CommandFailed(`${file} is neither JSON nor the binary form of a soul. ${ALSO_NONE}`);
  return document;
};

/** Offline nobody's keys are known but the one that the soul brings. */
export const verifiedOffline = (document: unknown): Promise<SoulVerification> =>
  verifySoul(document, { keys: { publicKey: () => Promise.resolve(undefined) }, issuer: '', trusted: null });

/** Why a soul is not valid, as a sentence. */
export const whyInvalid = (
  file: string,
  reason: Extract<SoulVerification, { valid: false }>['reason'],
): CommandFailed => new CommandFailed(`${file} is not valid (${reason}): ${REASONS[reason]}.`);
