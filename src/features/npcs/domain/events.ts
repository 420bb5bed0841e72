import type { Static } from '@sinclair/typebox';

import { decoderOf } from '../../../kernel/base/decoder.js';
import type {
  ActorGiven,
  Decided,
  Draft,
  ExchangeSchema,
  Grounds,
  InstructionGiven,
  npcEventSchemas,
  RecallBasisSchema,
  RecalledSchema,
  Source,
  SpeakerGiven,
} from './event-schemas.js';

export type Actor = Static<typeof ActorGiven>;
export type RecalledMemory = Static<typeof RecalledSchema>;
export type RecallBasis = Static<typeof RecallBasisSchema>;
/** One exchange of a conversation: what the NPC perceived, and what it answered. */
export type Exchange = Static<typeof ExchangeSchema>;
export type MemoryDraft = Static<typeof Draft>;
export type Instruction = Static<typeof InstructionGiven>;
/** The mind's decision on a model's text. */
export type Verdict = Static<typeof Decided>;
/** The grounds of the decision other than its inputs; shown by `why`. */
export type VerdictGrounds = Static<typeof Grounds>;
/** The player who speaks in a turn, and where the request named them. */
export type Speaker = Static<typeof SpeakerGiven>;
/** Where a memory from a soul was first stored: events of the server that exported it. */
export type MemorySource = Static<typeof Source>;
export type TurnKind = 'process' | 'directive' | 'context' | 'verdict';

export type NpcEventType = keyof typeof npcEventSchemas;
export type NpcEvent = {
  [Type in NpcEventType]: { type: Type; data: Static<(typeof npcEventSchemas)[Type]> };
}[NpcEventType];

/** The events of a mind's stream, in their stored and in their current form. */
export const npcEvents = decoderOf<NpcEvent>({
  NpcRegistered: [],
  NpcUpdated: [],
  RulesetBound: [],
  NpcArchived: [],
  TurnOpened: [],
  RulesetMissing: [],
  ActorIdentified: [],
  MemoriesRecalled: [],
  VerdictReached: [],
  VerdictRefused: [],
  StateChanged: [],
  FactsReported: [],
  MemoryStored: [],
  MemoryConfirmed: [],
  RecallReported: [],
  MemoriesCleared: [],
  MemoriesRetracted: [],
  AnswerMissing: [],
  PromptShortened: [],
  TurnFailed: [],
  TurnExpired: [],
  TapeMismatchNoticed: [],
  DirectiveGiven: [],
  ContextBuilt: [],
  BridgeChecked: [],
  SoulExportRequested: [],
  SoulSealed: [],
  SoulExported: [],
  SoulExportFailed: [],
  SoulExportExpired: [],
  SoulWithdrawn: [],
  SoulArrivalBegun: [],
  MemoryArrived: [],
  SoulArrived: [],
  ChainBreakRecorded: [],
});
