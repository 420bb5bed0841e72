/** Requests about turns, and a server's responses, for the documentation. Long texts are truncated. */

export const stepExamples = {
  open: {
    tape: {
      observation: 'A stranger asks for a room.',
      rulesetId: 'tavern',
    },
  },
  opened: {
    instruction: {
      type: 'IdentifyActor',
    },
    tape: {
      rulesetId: 'tavern',
      turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
      observation: 'A stranger asks for a room.',
      context: {},
      npcState: {},
      memories: [],
      vectorQueried: false,
    },
  },
};
