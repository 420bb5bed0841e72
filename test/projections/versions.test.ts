import { describe, expect, it } from 'vitest';

import { openProcesses } from '../../projections/open-processes.js';
import { projections } from '../../projections/registry.js';
import { eventKinds } from '../support/event-kinds.js';

const versionOf = (type: string): number | undefined =>
  Object.values(eventKinds)
    .map((kind) => kind.versionOf(type))
    .find((version) => version !== null);

/**
 * The events that each version of a projection folds, by type and version. Two servers of different ages may build one read model together: a projection
 * that folds more, or another version of a type, needs its own new version, or an older server skips events that it does not understand. Add a line, change none.
 */
const folded: Readonly<Record<string, string>> = {
  'npcs 1':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesRecalled 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RulesetMissing 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 2':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetMissing 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 3':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetMissing 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 4':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 5':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 6':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The same events: a row says when persona, data or binding last changed.
  'npcs 7':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 8':
    'ActorIdentified 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 9':
    'ActorIdentified 1, AnswerMissing 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The same events: a row says whether players are kept apart.
  'npcs 10':
    'ActorIdentified 1, AnswerMissing 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 11':
    'ActorIdentified 1, AnswerMissing 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, PromptShortened 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'npcs 12':
    'ActorIdentified 1, AnswerMissing 1, BridgeChecked 1, ChainBreakRecorded 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoriesCleared 1, MemoriesRecalled 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1, NpcArchived 1, NpcRegistered 1, NpcUpdated 1, PromptShortened 1, RecallReported 1, RulesetBound 1, RulesetMissing 1, SoulArrivalBegun 1, SoulArrived 1, SoulExportExpired 1, SoulExportFailed 1, SoulExportRequested 1, SoulExported 1, SoulSealed 1, SoulWithdrawn 1, StateChanged 1, TapeMismatchNoticed 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'turns 1':
    'ActorIdentified 1, ContextBuilt 1, DirectiveGiven 1, MemoriesRecalled 1, TurnExpired 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'turns 2':
    'ActorIdentified 1, ContextBuilt 1, DirectiveGiven 1, MemoriesRecalled 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'memories 1': 'MemoriesCleared 1, MemoryConfirmed 1, MemoryStored 1',
  'memories 2': 'MemoriesCleared 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1',
  'memories 3': 'MemoriesCleared 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1',
  // The same events: texts are indexed by the words that search has, without accents and with each character of scripts without spaces.
  'memories 4': 'MemoriesCleared 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1',
  // The same events: texts are indexed with those who may hear them.
  'memories 5': 'MemoriesCleared 1, MemoriesRetracted 1, MemoryArrived 1, MemoryConfirmed 1, MemoryStored 1',
  'players 1':
    'ContextBuilt 1, DirectiveGiven 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'rulesets 1': 'RulesetDeleted 1, RulesetRegistered 1',
  'souls 1': 'SoulExported 1, SoulSealed 1',
  'souls 2': 'SoulExportExpired 1, SoulExportFailed 1, SoulExported 1, SoulSealed 1',
  'souls 3': 'SoulExported 1, SoulSealed 1',
  'souls 4': 'SoulExported 1, SoulSealed 1, SoulWithdrawn 1',
  'levels 1': 'LevelDeleted 1, LevelPut 1',
  'ghosts 1': 'GhostBegun 1, GhostEnded 1, GhostReported 1, GhostRequested 1',
  'ghosts 2': 'GhostBegun 1, GhostEnded 1, GhostReported 1, GhostRequested 1',
  'replays 1': 'ReplayEnded 1, ReplayRequested 1',
  'utterances 1':
    'ContextBuilt 1, DirectiveGiven 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The same events: words that end in a sigma are indexed differently.
  'utterances 2':
    'ContextBuilt 1, DirectiveGiven 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The same events: the player recorded with a turn counts before those whom its texts name.
  'utterances 3':
    'ContextBuilt 1, DirectiveGiven 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The memories of a turn are in its row, and a retraction marks them.
  'utterances 4':
    'ContextBuilt 1, DirectiveGiven 1, MemoriesRetracted 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  // The same events: each passage carries the word of its block, so that a read of the index ends with it.
  'utterances 5':
    'ContextBuilt 1, DirectiveGiven 1, MemoriesRetracted 1, MemoryArrived 1, MemoryStored 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'activity 1': 'ContextBuilt 1, DirectiveGiven 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'waiting-turns 1':
    'ActorIdentified 1, ContextBuilt 1, DirectiveGiven 1, MemoriesRecalled 1, TurnExpired 1, TurnFailed 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'player-names 1':
    'ActorIdentified 1, ContextBuilt 1, DirectiveGiven 1, FactsReported 1, MemoryArrived 1, MemoryStored 1, NpcRegistered 1, NpcUpdated 1, RecallReported 1, SoulArrived 1, SoulExportRequested 1, TurnOpened 1, VerdictReached 1, VerdictRefused 1',
  'retractions 1': 'MemoriesRetracted 1',
  'open-processes 2': 'all',
};

describe('the version of a projection', () => {
  it.each([...projections, openProcesses].map((projection) => [projection.name, projection] as const))(
    'identifies the events that it folds: %s',
    (_, { name, version, handles }) => {
      const types =
        handles === 'all'
          ? 'all'
          : [...handles]
              .sort()
              .map((type) => `${type} ${String(versionOf(type))}`)
              .join(', ');
      expect(types).toBe(folded[`${name} ${version}`]);
    },
  );
});
