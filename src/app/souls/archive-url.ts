/** Where the built-in archive of a server is (contract 8.1). @param publicUrl without a slash at its end */
export const archiveAddress = (publicUrl: string): string => `${publicUrl}/archive`;

/** Where it answers a payload. */
export const archiveUrl = (publicUrl: string, txId: string): string => `${archiveAddress(publicUrl)}/${txId}`;
