type Way = { readonly to: string; readonly entered: boolean };

/** The ways out that the prompt of a ghost names. */
const waysIn = (prompt: string): readonly Way[] => {
  const [, ways] = /"ways":(\[[^\]]*\])/.exec(prompt) ?? [];
  if (ways === undefined) throw new Error(`a prompt without ways: ${prompt}`);
  return JSON.parse(ways) as readonly Way[];
};

/** What a model would answer that reads nothing but the prompt: it goes where it has not been, else the first way that there is. */
export const walkOn = (prompt: string): string => {
  const ways = waysIn(prompt);
  const way = ways.find(({ entered }) => !entered) ?? ways[0];
  if (way === undefined) return 'I am walled in.';
  return JSON.stringify({ dialogue: 'On I go.', action: { type: 'MOVE', target: way.to } });
};
