/** Requests about agents, and what a server answered, for the documentation. Long texts are cut. */

export const agentExamples = {
  input: {
    input: 'Does the miller owe you money?',
    context: {
      place: 'the bar',
    },
  },
  answer: {
    dialogue: 'The miller owes the inn nine coins. That is what I know.',
    action: {
      type: 'SPEAK',
      target: '',
    },
    stateChanges: {},
    memoriesRecalled: ['The miller owes the inn nine coins.'],
    turnId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH',
  },
};
