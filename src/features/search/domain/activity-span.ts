/** The two lengths of time in which activity is counted. */
export type ActivityUnit = 'hours' | 'days';

/** How many buckets an answer has at most. */
export const MOST_BUCKETS = 1_000;

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

/** Equal buckets of time, in UTC. The last one ends at or after `toMs`. */
export type ActivitySpan = {
  readonly fromMs: number;
  readonly toMs: number;
  /** The length of a bucket, in hours. */
  readonly hours: number;
  readonly buckets: number;
  readonly unit: ActivityUnit;
};

/** A length of whole hours or days, such as `6h` or `1d`; null if it is none. Only days are longer than 23 hours. */
export const stepHours = (step: string): number | null => {
  const [, count = '', unit] = /^([1-9]\d{0,3})([hd])$/.exec(step) ?? [];
  const number = Number(count);
  if (unit === 'd') return number * DAY_HOURS;
  return unit === 'h' && number < DAY_HOURS ? number : null;
};

export const stepText = (hours: number): string =>
  hours % DAY_HOURS === 0 ? `${String(hours / DAY_HOURS)}d` : `${String(hours)}h`;

/** The buckets between two times. They begin with the full hour, or day if their length is in days. */
export const spanOf = (fromMs: number, toMs: number, hours: number): ActivitySpan => {
  const unit = hours % DAY_HOURS === 0 ? 'days' : 'hours';
  const unitMs = unit === 'days' ? DAY_HOURS * HOUR_MS : HOUR_MS;
  const begins = Math.floor(fromMs / unitMs) * unitMs;
  const buckets = Math.max(1, Math.ceil((toMs - begins) / (hours * HOUR_MS)));
  return { fromMs: begins, toMs: begins + buckets * hours * HOUR_MS, hours, buckets, unit };
};

/** When this many buckets begin of which the last one ends with the hour, or day, of `toMs`. */
export const beginOf = (toMs: number, hours: number, buckets: number): number => {
  const unitMs = (hours % DAY_HOURS === 0 ? DAY_HOURS : 1) * HOUR_MS;
  return Math.ceil(toMs / unitMs) * unitMs - buckets * hours * HOUR_MS;
};

/** The years that an RFC 3339 timestamp can name. */
const [YEAR_0, YEAR_10000] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z') + 1];

/** Whether each bucket's ends can be written as a timestamp. */
export const canBeWritten = ({ fromMs, toMs }: ActivitySpan): boolean => fromMs >= YEAR_0 && toMs < YEAR_10000;

/** At most `most` buckets between two times, as short as that allows: of whole hours, or of whole days. */
export const spanWithin = (fromMs: number, toMs: number, most: number): ActivitySpan => {
  const hoursFor = (unitHours: number): number => {
    const unitMs = unitHours * HOUR_MS;
    const units = Math.ceil((toMs - Math.floor(fromMs / unitMs) * unitMs) / unitMs);
    return Math.max(1, Math.ceil(units / most)) * unitHours;
  };
  const hours = hoursFor(1);
  return spanOf(fromMs, toMs, hours < DAY_HOURS ? hours : hoursFor(DAY_HOURS));
};

/** When a bucket begins. */
export const bucketAt = ({ fromMs, hours }: ActivitySpan, bucket: number): string =>
  new Date(fromMs + bucket * hours * HOUR_MS).toISOString();

/** The bucket of a time that is in the span. */
export const bucketOf = ({ fromMs, hours }: ActivitySpan, timeMs: number): number =>
  Math.floor((timeMs - fromMs) / (hours * HOUR_MS));
