import type { ActionDeclaration, Declarations, TargetKind } from '../../../rules/domain/actions/action-declaration.js';
import type { PayloadSchema } from '../../../rules/domain/actions/payload-schema.js';
import { jsonBytes } from '../../../../kernel/base/json.js';
import type { PromptPart } from './prompt-parts.js';
import type { TextRules } from './text-rules.js';

const TARGETS: Readonly<Record<TargetKind, string>> = {
  entity: 'target: somebody or something that is here',
  item: 'target: an item',
  place: 'target: a place',
  none: 'no target',
};

const range = (least: number | undefined, most: number | undefined): string => {
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return ` of at least ${least ?? 0}`;
  return least === undefined ? ` of at most ${most}` : ` from ${least} to ${most}`;
};

const lengths = ({ minLength, maxLength }: PayloadSchema): string => {
  const of = range(minLength, maxLength);
  return of === '' ? '' : `${of} ${(maxLength ?? minLength) === 1 ? 'character' : 'characters'}`;
};

const bounds = ({ exclusiveMinimum, exclusiveMaximum }: PayloadSchema): string =>
  `${exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`}${exclusiveMaximum === undefined ? '' : ` below ${exclusiveMaximum}`}`;

const membersOf = ({ properties = {}, required = [] }: PayloadSchema): string => {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : ' (optional)'}: ${valueOf(schema)}`,
  );
  return members.length === 0 ? 'an object' : `{${members.join(', ')}}`;
};

const kindOf = (schema: PayloadSchema): string => {
  const listed = schema.const === undefined ? schema.enum : [schema.const];
  if (listed !== undefined) return listed.map((value) => JSON.stringify(value)).join(' or ');
  switch (schema.type) {
    case 'object':
      return membersOf(schema);
    case 'array':
      return `a list${range(schema.minItems, schema.maxItems)}${schema.items === undefined ? '' : `, each ${valueOf(schema.items)}`}`;
    case 'string':
      return `a text${lengths(schema)}`;
    case 'number':
    case 'integer':
      return `a ${schema.type === 'integer' ? 'whole ' : ''}number${range(schema.minimum, schema.maximum)}${bounds(schema)}`;
    case 'boolean':
      return 'true or false';
    default:
      return 'anything';
  }
};

const valueOf = (schema: PayloadSchema): string => {
  const { description = '' } = schema;
  return `${kindOf(schema)}${description === '' ? '' : ` (${JSON.stringify(description)})`}`;
};

/** A declared action as one line for the model. */
const lineOf = ({ type, description, target, payload }: ActionDeclaration, guard: TextRules['guard']): string => {
  const parts = [
    ...(target === undefined ? [] : [TARGETS[target]]),
    ...(payload === undefined ? [] : [`payload: ${valueOf(payload)}`]),
  ];
  return guard(`${type}: ${JSON.stringify(description)}${parts.length === 0 ? '' : `; ${parts.join('; ')}`}`);
};

/** The declared actions as lines for the model. Those that do not fit into `bytes` bytes of JSON are listed by type alone. */
export const actionLines = (
  declarations: Declarations,
  bytes: number,
  guard: TextRules['guard'],
): readonly PromptPart[] => {
  const declared = [...declarations.values()];
  let left = bytes - declared.reduce((sum, { type }) => sum + jsonBytes(type), 0);
  return declared.map((declaration) => {
    const { type } = declaration;
    const line = lineOf(declaration, guard);
    const more = jsonBytes(line) - jsonBytes(type);
    const isWhole = more <= left;
    if (isWhole) left -= more;
    return { text: isWhole ? line : type, from: 'action', ref: type };
  });
};
