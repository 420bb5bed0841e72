import type { MindPart, PartResult, SliceTask } from '../features/replays/replay-part.js';
import type { ReplayFindings } from '../features/replays/domain/findings.js';
import type { Refusal } from '../kernel/processes/process-step.js';

/** Where a thread reads events. */
export type ReplaySource =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'eventStoreDb'; readonly url: string; readonly namespace: string };

/** Messages to a thread. Each call gets one reply; `slice` and `drop` get none. */
export type ThreadRequest =
  | { readonly type: 'slice'; readonly slice: number; readonly setting: SliceTask }
  | { readonly type: 'part'; readonly slice: number; readonly call: number; readonly mind: MindPart }
  | { readonly type: 'findings'; readonly slice: number; readonly call: number }
  | { readonly type: 'abort'; readonly call: number }
  | { readonly type: 'drop'; readonly slice: number };

/** The reply of a thread: the result, a refusal, or the reason of a failure. */
export type ThreadReply = { readonly call: number } & (
  { readonly done: PartResult | ReplayFindings } | { readonly refused: Refusal } | { readonly failed: string }
);
