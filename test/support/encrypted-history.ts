/** The key of test/fixtures/encrypted-history.json. */
export const encryptedHistoryKey = new Uint8Array(32).fill(7);
