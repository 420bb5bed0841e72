import { InvalidArgumentError } from 'commander';

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a time (RFC 3339), or how long ago it was: 30m, 12h, 7d. @returns RFC 3339 */
export const momentFrom =
  (nowMs: () => number = Date.now) =>
  (text: string): string => {
    const ago = /^(\d{1,6})([mhd])$/.exec(text);
    if (ago !== null) return new Date(nowMs() - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS]).toISOString();
    if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
    throw new InvalidArgumentError('It must be a time such as 2026-07-01T00:00:00Z, or how long ago: 30m, 12h, 7d.');
  };
