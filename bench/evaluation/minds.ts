import { readFileSync } from 'node:fs';

/** A memory as a game would store it. */
export type EvaluatedMemory = {
  readonly id: string;
  readonly text: string;
  readonly importance: number;
  readonly daysAgo: number;
};

/** The kinds of questions; no memory answers one of the kind `nothing`. */
export const kinds = ['paraphrase', 'names', 'negation', 'time', 'similar', 'nothing'] as const;
export type Kind = (typeof kinds)[number];

/** The half with which scores were chosen, and the one that was held back. */
export const halves = ['tuning', 'held back'] as const;
export type Half = (typeof halves)[number];

/** `right`: the memories that answer it. */
export type Question = {
  readonly mind: string;
  readonly kind: Kind;
  readonly half: Half;
  readonly query: string;
  readonly right: readonly string[];
};

export type EvaluatedMind = {
  readonly mind: string;
  readonly memories: readonly EvaluatedMemory[];
  readonly questions: readonly Question[];
};

/** The written minds and their questions; every second question of a mind is held back. */
export const readMinds = (): readonly EvaluatedMind[] =>
  ['blacksmith', 'innkeeper', 'guard', 'herbalist'].map((name) => {
    const { mind, memories, questions } = JSON.parse(
      readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8'),
    ) as EvaluatedMind;
    return {
      mind,
      memories,
      questions: questions.map((question, at) => ({ ...question, mind, half: halves[at % 2] ?? 'tuning' })),
    };
  });
