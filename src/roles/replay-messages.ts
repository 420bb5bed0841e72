import type { MindPart, PartResult, SliceTask } from '../features/replays/replay-part.js';
import type { ReplayFindings } from '../features/replays/domain/findings.js';
import type { Refusal } from '../kernel/processes/process-step.js';

/** Where a thread reads events. */
export type ReplaySource =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'eventStoreDb'; readonly url: string; readonly namespace: string };

/** What a thread is told. Each call is answered once; `slice` and `drop` are not. */
export type ThreadRequest =
  | { readonly type: 'slice'; readonly slice: number; readonly setting: SliceTask }
  | { readonly type: 'part'; readonly slice: number; readonly call: number; readonly mind: MindPart }
  | { readonly type: 'findings'; readonly slice: number; readonly call: number }
  | { readonly type: 'abort'; readonly call: number }
  | { readonly type: 'drop'; readonly slice: number };

/** What it answers: the result, a refusal, or why it failed. */
export type ThreadReply = { readonly call: number } & (
  { readonly done: PartResult | ReplayFindings } | { readonly refused: Refusal } | { readonly failed: string }
);
