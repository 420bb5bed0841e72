/** The durations and sizes of the measurements. */
export type Effort = {
  /** Rounds of every comparison. */
  readonly rounds: number;
  /** Seconds of one round under load, and of the load before the first one. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Seconds for which the capacity is measured before each latency round. */
  readonly capacitySeconds: number;
  /** Events in the store that is rebuilt, and in the one that a server starts on. */
  readonly rebuildEvents: number;
  readonly startEvents: number;
  /** Turns that are open in the store that a server starts on. */
  readonly openTurns: number;
  /** Events of the one long mind. */
  readonly longMindEvents: number;
  /** Memories of the mind that recalls, and of the one that recalls from many. */
  readonly recallMemories: number;
  readonly manyMemories: number;
  /** Texts that are embedded during live steps, and for how many seconds the steps of a round are measured. */
  readonly embedTexts: number;
  readonly liveSeconds: number;
  /** Memories of the mind that is imported and exported as a soul. */
  readonly soulMemories: number;
  /** Ghost sessions that play concurrently, and during live steps. */
  readonly ghostSessions: number;
  readonly ghostsBeside: number;
  /** Requests, or updates of workflows, after which the heap is measured. */
  readonly heapRequests: number;
  /** Minds whose decisions are replayed, and the turns of each. */
  readonly replayed: { readonly minds: number; readonly turnsOfMind: number };
};

/** The rounds and sizes behind the figures of docs/explanation/performance. */
export const fullEffort: Effort = {
  rounds: 5,
  seconds: 4,
  warmUpSeconds: 3,
  capacitySeconds: 3,
  rebuildEvents: 200_000,
  startEvents: 1_000_000,
  openTurns: 5_000,
  longMindEvents: 1_000_000,
  recallMemories: 10_000,
  manyMemories: 100_000,
  embedTexts: 10_000,
  liveSeconds: 15,
  soulMemories: 10_000,
  ghostSessions: 200,
  ghostsBeside: 50,
  heapRequests: 20_000,
  replayed: { minds: 1_000, turnsOfMind: 100 },
};

/** Shows in under a minute that everything runs; its figures mean nothing. */
export const shortEffort: Effort = {
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
  capacitySeconds: 1,
  rebuildEvents: 20_000,
  startEvents: 20_000,
  openTurns: 2_000,
  longMindEvents: 20_000,
  recallMemories: 500,
  manyMemories: 2_000,
  embedTexts: 1_000,
  liveSeconds: 1,
  soulMemories: 500,
  ghostSessions: 10,
  ghostsBeside: 5,
  heapRequests: 1_000,
  replayed: { minds: 20, turnsOfMind: 10 },
};
