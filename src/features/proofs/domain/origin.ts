/** The name of a tenant's log, which is also the name of its key in notes; these may not contain a plus sign. */
export const firstOrigin = (issuer: string, tenant: string): string =>
  `${issuer.replace(/^https?:\/\//, '').replaceAll('+', '%2B')}/audit/${encodeURIComponent(tenant)}`;

const NUMBERED = /^(.*\/audit\/[^/]+)\/(\d{1,9})$/;

/** The name of a log after it was restarted: the same with `/2`, then `/3`, and so on. */
export const nextOrigin = (origin: string): string => {
  const [, base = origin, count = '1'] = NUMBERED.exec(origin) ?? [];
  return `${base}/${String(Number(count) + 1)}`;
};

/** How many names a log had when it had another name, this one counted; null for the name of another log. */
export const nameCount = (log: string): ((origin: string) => number | null) => {
  const parts = (origin: string): readonly [string, number] => {
    const [, base = origin, count = '1'] = NUMBERED.exec(origin) ?? [];
    return [base, Number(count)];
  };
  const [own] = parts(log);
  return (origin) => {
    const [base, count] = parts(origin);
    return base === own ? count : null;
  };
};
