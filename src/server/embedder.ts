import type { DependencyState } from '../kernel/http/status.js';
import type { Embedder } from '../ports/embedder.js';

/** The state of an embedder on another server at its last call, for `GET /readyz`. No turn of a body needs it, so a server is ready without it. */
export const embedderDependency = (embedder: Embedder): Readonly<Record<string, DependencyState>> => {
  if (embedder.down === undefined) return {};
  const detail = embedder.down();
  return { embedder: detail === null ? { ok: true, needed: false } : { ok: false, detail, needed: false } };
};
