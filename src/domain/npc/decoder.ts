import { decoderOf } from '../shared/decoder.js';
import type { NpcEvent } from './events.js';

/** The events of a mind's stream, as they are stored and as they are known. */
export const npcEvents = decoderOf<NpcEvent>({
  NpcRegistered: [],
  NpcUpdated: [],
  NpcArchived: [],
  TurnOpened: [],
  RulesetMissing: [],
  ActorIdentified: [],
  MemoriesRecalled: [],
  VerdictReached: [],
  VerdictRefused: [],
  StateChanged: [],
  MemoryStored: [],
  MemoryConfirmed: [],
  RecallReported: [],
  MemoriesCleared: [],
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
  SoulArrivalBegun: [],
  MemoryArrived: [],
  SoulArrived: [],
  ChainBreakRecorded: [],
});
