import type { Level } from './level.js';

/** A level in a list. */
export type LevelSummary = Pick<Level, 'name' | 'width' | 'height'> & {
  readonly contents: {
    readonly goals: number;
    readonly items: number;
    readonly doors: number;
    readonly hazards: number;
    readonly npcs: number;
    readonly triggers: number;
  };
};

export const summaryOf = ({ name, width, height, ...level }: Level): LevelSummary => ({
  name,
  width,
  height,
  contents: {
    goals: level.goals.length,
    items: level.items.length,
    doors: level.doors.length,
    hazards: level.hazards.length,
    npcs: level.npcs.length,
    triggers: level.triggers.length,
  },
});
