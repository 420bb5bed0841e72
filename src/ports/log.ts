/** The structured log. Fields are objects, so that an adapter can redact and format them; `err` is an Error. */
export interface Log {
  isLevelEnabled(level: string): boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
