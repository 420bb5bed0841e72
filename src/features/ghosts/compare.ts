import type { Finding } from './domain/findings.js';
import type { LevelRef } from '../levels/domain/ref.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';

/** The findings of the second of two sessions compared with the first. */
export type Comparison = {
  readonly comparable: boolean;
  readonly added: readonly Finding[];
  readonly gone: readonly Finding[];
  readonly kept: readonly Finding[];
  readonly metrics: readonly (readonly [name: string, before: number, after: number])[];
};

type Over = Extract<GhostAnswer, { name: 'over' }>;

const nameOf = ({ kind, subject }: Finding): string => `${kind} ${subject}`;

/** Versions of a level are compared with each other; for a generated level each seed makes a different one. */
const isSameLevel = (one: LevelRef, other: LevelRef): boolean =>
  one.levelId === other.levelId && (!one.generated || one.digest === other.digest);

/** @throws Rejection GHOST_RUNNING */
const requireOver = (session: GhostAnswer): Over => {
  if (session.name === 'over') return session;
  throw new Rejection('GHOST_RUNNING', { details: { sessionId: session.sessionId }, retryAfter: 1 });
};

/** The findings that appeared and disappeared between two sessions. @throws Rejection GHOST_RUNNING while one of them has not ended */
export const compareSessions = (one: GhostAnswer, other: GhostAnswer): Comparison => {
  const [before, after] = [requireOver(one), requireOver(other)];
  const [old, fresh] = [before.report.findings, after.report.findings];
  const known = new Set(old.map(nameOf));
  const seen = new Set(fresh.map(nameOf));
  const figures = new Map(after.report.metrics);
  return {
    comparable: before.goal === after.goal && before.driver === after.driver && isSameLevel(before.level, after.level),
    added: fresh.filter((finding) => !known.has(nameOf(finding))),
    gone: old.filter((finding) => !seen.has(nameOf(finding))),
    kept: fresh.filter((finding) => known.has(nameOf(finding))),
    metrics: before.report.metrics.flatMap(([name, figure]) => {
      const now = figures.get(name);
      return now === undefined ? [] : [[name, figure, now] as const];
    }),
  };
};
