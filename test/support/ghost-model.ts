type Way = { readonly to: string; readonly entered: boolean };

/** The exits in the prompt of a ghost. */
const waysIn = (prompt: string): readonly Way[] => {
  const [, ways] = /"ways":(\[[^\]]*\])/.exec(prompt) ?? [];
  if (ways === undefined) throw new Error(`a prompt without ways: ${prompt}`);
  return JSON.parse(ways) as readonly Way[];
};

/** The answer of a model that reads only the prompt: it goes to a new room if there is one, or else through the first exit. */
export const walkOn = (prompt: string): string => {
  const ways = waysIn(prompt);
  const way = ways.find(({ entered }) => !entered) ?? ways[0];
  if (way === undefined) return 'I am walled in.';
  return JSON.stringify({ dialogue: 'On I go.', action: { type: 'MOVE', target: way.to } });
};
