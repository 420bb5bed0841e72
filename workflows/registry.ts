import { turn } from './turn.js';

/** Every process there is, under its name: a new one is named here, and does not compile until a server hosts it. */
export const processes = { turn } as const;

export type ProcessName = keyof typeof processes;
