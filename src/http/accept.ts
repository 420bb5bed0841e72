/**
 * Whether an `Accept` header names this very media type. A range such as any type does not ask for a stream, and neither does a type with the weight 0
 * (RFC 9110, 12.5.1).
 */
export const asksFor = (accept: string | undefined, type: string): boolean =>
  (accept ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
