/** Where the built-in archive of a server answers a payload (contract 8.1). @param publicUrl without a slash at its end */
export const archiveUrl = (publicUrl: string, txId: string): string => `${publicUrl}/archive/${txId}`;
