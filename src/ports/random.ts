/** The source of randomness. Tests use a seed. */
export interface Random {
  /** `bytes` unpredictable bytes. */
  bytes(count: number): Uint8Array;
}
