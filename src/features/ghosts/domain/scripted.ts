import { beginPlan, type Policy, type ProtocolProbe } from './policy.js';

/** One text of a script, and its protocol probe. */
export type ScriptedText = { readonly text: string; readonly probe?: ProtocolProbe };

/** Plays the texts of a script one after the other, whatever their outcome. */
export const scriptedPolicy = (script: readonly ScriptedText[]): Policy => ({
  begin: beginPlan,
  next: (_level, _world, plan) => {
    const said = script[plan.turn] ?? { text: '' };
    return { ...said, plan: { ...plan, turn: plan.turn + 1 }, kind: 'script' };
  },
});
