import { cutText } from '../../../kernel/base/text.js';

/** The kinds of findings, in the order in which results list them. */
export const findingKinds = [
  'unreachable_goal',
  'soft_lock',
  'unusable_item',
  'mind_allowed_world_refused',
  'mind_refused_world_allows',
  'rule_never_fired',
  'rule_shadowed',
  'rules_contradict',
  'slow_step',
  'engine_error',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** Equal findings merged into one: how often it was seen, and in which events first. */
export type MergedFinding = {
  readonly kind: FindingKind;
  readonly subject: string;
  readonly detail: string;
  readonly fromStep: number;
  readonly toStep: number;
  readonly count: number;
  readonly events: readonly number[];
};

/** How many different findings of one kind a tally holds, so that no kind displaces another, and how many events each names. */
const OF_KIND = 50;
const EVENTS = 20;
const DETAIL_CHARS = 300;
const SUBJECT_CHARS = 200;

/** A finding in one step. */
export type Noticed = Pick<MergedFinding, 'kind' | 'subject' | 'detail'>;

/** The findings plus another one, which joins an equal one (the same kind and subject). */
export const merged = (
  found: readonly MergedFinding[],
  { kind, subject, detail }: Noticed,
  step: number,
  revision: number,
): readonly MergedFinding[] => {
  const named = cutText(subject, SUBJECT_CHARS);
  const at = found.findIndex((one) => one.kind === kind && one.subject === named);
  const known = found[at];
  if (known !== undefined) {
    const events = known.events.length < EVENTS ? [...known.events, revision] : known.events;
    return found.with(at, { ...known, toStep: step, count: known.count + 1, events });
  }
  if (found.filter((one) => one.kind === kind).length >= OF_KIND) return found;
  const fresh = { kind, subject: named, detail: cutText(detail, DETAIL_CHARS), fromStep: step, toStep: step, count: 1 };
  return [...found, { ...fresh, events: [revision] }];
};
