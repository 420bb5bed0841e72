import type { Level, Tile } from '../../levels/domain/level.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { cutText } from '../../../kernel/base/text.js';
import { isOnMap } from './chart.js';

/** A game's report on an action: it succeeded, or failed and why. */
export type ToldOutcome =
  { readonly ok: true } | { readonly ok: false; readonly code: string; readonly reason: string };

/** A body's report about its game's world at the beginning of a turn, as parsed; goals by position. */
export type WorldReport = {
  readonly position?: Tile;
  /** The outcome of the previous step's action. */
  readonly outcome?: ToldOutcome;
  readonly reached?: readonly number[];
  readonly done?: true;
};

const CODE = /^[A-Za-z0-9_]{1,64}$/;
const REFUSED = 'REFUSED';
/** How much of a reason is kept, in UTF-16 units. */
const REASON_CHARS = 300;

const positionIn = (level: Level, value: Json | undefined): Pick<WorldReport, 'position'> => {
  if (!isObject(value)) return {};
  const { x, y } = value;
  if (typeof x !== 'number' || typeof y !== 'number' || !Number.isInteger(x) || !Number.isInteger(y)) return {};
  // Adding zero turns -0 into 0, because JSON cannot hold -0.
  return isOnMap(level, { x, y }) ? { position: { x: x + 0, y: y + 0 } } : {};
};

const outcomeIn = (value: Json | undefined): Pick<WorldReport, 'outcome'> => {
  if (!isObject(value) || typeof value['ok'] !== 'boolean') return {};
  if (value['ok']) return { outcome: { ok: true } };
  const { code, reason } = value;
  return {
    outcome: {
      ok: false,
      code: typeof code === 'string' && CODE.test(code) ? code : REFUSED,
      reason: typeof reason === 'string' ? cutText(reason, REASON_CHARS) : '',
    },
  };
};

const reachedIn = (level: Level, value: Json | undefined): Pick<WorldReport, 'reached'> => {
  if (!Array.isArray(value)) return {};
  const names = new Set<unknown>(value);
  return { reached: level.goals.flatMap(({ id }, position) => (names.has(id) ? [position] : [])) };
};

/** Reads a turn's `context.ghost`. Total: a malformed member counts as absent (promise 9.6k). */
export const readTold = (level: Level, context: Json): WorldReport => {
  const ghost = isObject(context) ? context['ghost'] : undefined;
  if (!isObject(ghost)) return {};
  return {
    ...positionIn(level, ghost['position']),
    ...outcomeIn(ghost['outcome']),
    ...reachedIn(level, ghost['reached']),
    ...(ghost['done'] === true ? { done: true } : {}),
  };
};
