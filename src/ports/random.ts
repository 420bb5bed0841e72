/** Randomness, as the application sees it. Tests seed it. */
export interface Random {
  /** `bytes` unpredictable bytes. */
  bytes(count: number): Uint8Array;
}
