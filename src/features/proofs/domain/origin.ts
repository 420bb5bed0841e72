/** The name of a tenant's log, which is also the name of its key in notes; these may not contain a plus sign. */
export const firstOrigin = (issuer: string, tenant: string): string =>
  `${issuer.replace(/^https?:\/\//, '').replaceAll('+', '%2B')}/audit/${encodeURIComponent(tenant)}`;

const NUMBERED = /^(.*\/audit\/[^/]+)\/(\d{1,9})$/;

/** The name of a log after it was restarted: the same with `/2`, then `/3`, and so on. */
export const nextOrigin = (origin: string): string => {
  const [, base = origin, count = '1'] = NUMBERED.exec(origin) ?? [];
  return `${base}/${String(Number(count) + 1)}`;
};
