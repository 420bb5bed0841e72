const MILLIONS = { m: 1, b: 1_000 } as const;

/** A model's size according to its name (`gemma3-270m`, `llama3.1:8b`), in millions of parameters; 0 if the name does not contain it. */
export const parametersIn = (name: string): number => {
  const [, figure = '', unit = ''] = /(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])/i.exec(name) ?? [];
  return figure === '' ? 0 : Number(figure) * MILLIONS[unit.toLowerCase() as keyof typeof MILLIONS];
};
