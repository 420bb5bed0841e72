/** Requests about engines, and what a server answered, for the documentation. Long texts are cut. */

export const cortexExamples = {
  models: [
    {
      id: 'scripted',
      name: 'Scripted',
      parameters: 0,
    },
  ],
  init: {
    requestedModel: 'scripted',
  },
  cortex: {
    cortexId: 'scripted',
    runtime: 'builtin',
    state: 'ready',
  },
  complete: {
    prompt: 'Who are you?',
    maxTokens: 64,
  },
  completed: {
    id: 'cmwzc2ugh_ibh2lw1XsjtnFq7n',
    text: 'My name is my own for now. What is yours?',
    stats: {
      promptTokens: 3,
      completionTokens: 10,
    },
  },
};
