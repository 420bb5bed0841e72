import type { DependencyState } from '../kernel/http/status.js';
import type { Embedder } from '../ports/embedder.js';

/** How an embedder on another server did when it was asked last, for `GET /readyz` (contract 6.4). No turn of a body needs it, so a server is ready without it. */
export const embedderDependency = (embedder: Embedder): Readonly<Record<string, DependencyState>> => {
  if (embedder.down === undefined) return {};
  const detail = embedder.down();
  return { embedder: detail === null ? { ok: true, needed: false } : { ok: false, detail, needed: false } };
};
