/** What one alternative of a condition requires of a value. `none`: the value must equal none of these. */
export type ConditionAlternative =
  | { readonly is: 'present' }
  | { readonly is: 'exactly'; readonly text: string }
  | { readonly is: 'none'; readonly of: readonly string[] }
  | { readonly is: 'order'; readonly operator: '<' | '<=' | '>' | '>='; readonly operand: string };

/** Without the text after it, which a pattern would search again and again. */
const OPERATOR = /^(?:<=|>=|!=|<|>)/;

const single = (value: string): ConditionAlternative => {
  if (value === '*') return { is: 'present' };
  const [operator] = OPERATOR.exec(value) ?? [];
  if (operator === undefined) return { is: 'exactly', text: value };
  const operand = value.slice(operator.length).trim();
  return operator === '!='
    ? { is: 'none', of: [operand] }
    : { is: 'order', operator: operator as '<' | '<=' | '>' | '>=', operand };
};

/** The alternatives of a condition's value, one of which must hold; `!=a|b` is one: neither. */
export const conditionAlternatives = (value: string): readonly ConditionAlternative[] => {
  const [first = '', ...others] = value.split('|');
  if (first.startsWith('!=') && others.every((other) => !OPERATOR.test(other) && other !== '*'))
    return [{ is: 'none', of: [first.slice(2), ...others].map((operand) => operand.trim()) }];
  return [first, ...others].map(single);
};
