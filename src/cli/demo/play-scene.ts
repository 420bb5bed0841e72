import type { Inference } from '../../body/inference.js';
import { createWordMemory } from '../../body/memory.js';
import type { MindClient } from '../../body/mind-client.js';
import { MindError } from '../../body/mind-request.js';
import { playTurn, type TurnPlayed } from '../../body/play-turn.js';
import type { FoundMemory, JsonMembers, NpcAction } from '../../body/protocol.js';
import type { ScriptEntry } from '../../body/scripted-inference.js';
import type { CastMember, Character, Scene, SceneLine } from './scene/types.js';
import { defined } from '../../kernel/base/defined.js';

/** One line as it was played, with the outcome of its turn. */
export type PlayedLine = {
  readonly number: number;
  readonly to: Character;
  readonly name: string;
  readonly npcId: string;
  readonly says: string;
  readonly turnId: string | null;
  readonly requests: number;
  readonly valid: boolean;
  readonly dialogue: string;
  readonly action: NpcAction | null;
  readonly refusedAction: NpcAction | null;
  readonly code: string | null;
  readonly details: JsonMembers;
  readonly signed: boolean;
  readonly stateTransform: JsonMembers;
  readonly recalled: readonly FoundMemory[];
  readonly stored: number;
  /** How the outcome differs from the scene; null when it does not. */
  readonly surprise: string | null;
};

export type Stage = {
  readonly scene: Scene;
  readonly mind: MindClient;
  readonly inference: Inference;
  /** Part of the NPC ids, so that the scene can be played again on the same server. */
  readonly run: string;
  /** Whether the scripted answers are used. The turns of a real model are not compared with the scene. */
  readonly scripted: boolean;
  readonly onAct: (title: string) => void;
  readonly onLine: (line: PlayedLine, written: SceneLine) => Promise<void>;
  readonly signal: AbortSignal;
};

const rulesetIdOf = ({ rules }: CastMember): string => ('preset' in rules ? rules.preset : rules.ruleset.rulesetId);

/** The NPC id of a character in one run of the demo. */
export const npcIdOf = (character: Character, run: string): string => `demo-${character}-${run}`;

/** The scripted model: an answer for every player line. */
export const scriptOf = (scene: Scene): readonly ScriptEntry[] =>
  scene.acts.flatMap(({ lines }) => lines.map(({ says, model }) => ({ when: says, answers: [model] })));

const isRegistered = async (mind: MindClient, rulesetId: string): Promise<boolean> => {
  try {
    await mind.ruleset(rulesetId);
    return true;
  } catch (error) {
    if (error instanceof MindError && error.status === 404) return false;
    throw error;
  }
};

const bringRules = async ({ rules }: CastMember, mind: MindClient): Promise<void> => {
  if ('ruleset' in rules) await mind.registerRules(rules.ruleset);
  // The user may have changed the ruleset of that name.
  else if (!(await isRegistered(mind, rules.preset))) await mind.usePreset(rules.preset);
};

/** Registers the rules and the NPCs of the cast. @throws MindError */
export const setStage = async ({ scene, mind, run }: Pick<Stage, 'scene' | 'mind' | 'run'>): Promise<void> => {
  for (const [character, member] of Object.entries(scene.cast) as [Character, CastMember][]) {
    await bringRules(member, mind);
    await mind.registerNpc({ npcId: npcIdOf(character, run), persona: member.persona, data: member.data });
  }
};

/** How the outcome of a turn differs from the scene; null when it does not. */
export const surpriseIn = ({ refused }: SceneLine, { instruction, requests }: TurnPlayed): string | null => {
  if (requests !== 4) return `the turn took ${String(requests)} requests instead of 4`;
  if (refused === undefined)
    return instruction.valid
      ? null
      : `it was refused (${instruction.code ?? 'no code'}), but should have been accepted`;
  if (instruction.valid) return `it was accepted, although ${refused.because}`;
  if (instruction.code !== refused.code)
    return `it was refused with ${instruction.code ?? 'no code'} instead of ${refused.code}`;
  const rule = instruction.details?.['drRuleId'];
  return refused.rule === undefined || rule === refused.rule
    ? null
    : `it was refused by ${typeof rule === 'string' ? `rule ${rule}` : 'no rule'} instead of rule ${refused.rule}`;
};

/**
 * Plays the scene line by line, each line as one turn.
 * @throws MindError, InferenceError, TurnError at the first line that could not be played
 */
export const playScene = async (stage: Stage): Promise<readonly PlayedLine[]> => {
  const memory = createWordMemory();
  const played: PlayedLine[] = [];

  const play = async (written: SceneLine): Promise<void> => {
    const member = stage.scene.cast[written.to];
    const npcId = npcIdOf(written.to, stage.run);
    const { says, context, npcState } = written;
    const turn = await playTurn({
      mind: stage.mind,
      npcId,
      ...member.client,
      tape: {
        observation: says,
        context,
        rulesetId: rulesetIdOf(member),
        ...defined({ npcState }),
      },
      actor: () => ({ npcId, persona: member.persona, data: member.data }),
      memory,
      inference: stage.inference,
      signal: stage.signal,
    });
    const { instruction, tape } = turn;
    const line: PlayedLine = {
      number: played.length + 1,
      to: written.to,
      name: member.name,
      npcId,
      says,
      turnId: tape.turnId ?? null,
      requests: turn.requests,
      valid: instruction.valid,
      dialogue: instruction.dialogue,
      action: instruction.action,
      refusedAction: instruction.refusedAction ?? null,
      code: instruction.code ?? null,
      details: instruction.details ?? {},
      signed: instruction.signature !== null,
      stateTransform: instruction.stateTransform,
      recalled: tape.memories ?? [],
      stored: instruction.memoryStore.length,
      surprise: stage.scripted ? surpriseIn(written, turn) : null,
    };
    played.push(line);
    await stage.onLine(line, written);
  };

  for (const { title, lines } of stage.scene.acts) {
    stage.onAct(title);
    for (const line of lines) await play(line);
  }
  return played;
};
