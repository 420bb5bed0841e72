import type { AccessSource } from './server-access.js';
import { plainUrl } from './values.js';

/** Archives beyond the built-in one (contract 11.1). URLs have no slash at their end. */
export type ArchivesConfig = {
  /** The RPC API of an IPFS node. */
  readonly ipfsApiUrl: string | null;
};

const PLAIN_URL = 'an http or https URL without a name, a password or a query';

/** Reads which archives this server uses beyond its own. */
export const readArchives = ({ text, problems }: AccessSource): ArchivesConfig => {
  const url = (name: string): string | null => {
    const given = text(name);
    const read = given === null ? null : plainUrl(given);
    if (given !== null && read === null) {
      problems.push(`${name} must be ${PLAIN_URL} (its value is not shown, as it may hold a password).`);
    }
    return read;
  };
  return { ipfsApiUrl: url('IPFS_API_URL') };
};
