import { shownText } from '../problem.js';
import type { ParseFailure } from './parse.js';

const TOKENS: Readonly<Record<string, string>> = {
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
  IDENTIFIER: 'The name of a member',
};

/** The word or mark at a place, as a message shows it. */
const tokenAt = (text: string, at: number): string => shownText(/^(?:\w+|[^]?)/u.exec(text.slice(at))?.[0] ?? '');

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/map<[^<>]*>/g, 'object'],
  [/list<(?:[^<>]|<[^<>]*>)*>/g, 'list'],
  [/(?<!\w)dyn<(\w+)>/g, '$1'],
  [/\bstring\b/g, 'text'],
  [/\bint\b/g, 'whole number'],
  [/\bdouble\b/g, 'number'],
  [/\bbool\b/g, 'boolean'],
  [/(?<!\w)dyn(?!\w)/g, 'anything'],
];

const inWords = (said: string): string => TYPES.reduce((words, [type, name]) => words.replace(type, name), said);

/** What the library says behind a colon or in quotes. */
const combination = (said: string): string => inWords(/'(.*)'$/s.exec(said)?.[1] ?? said.replace(/^[^:]*: /, ''));

const typeMessage = ({ code, said }: ParseFailure): string => {
  switch (code) {
    case 'no_such_overload':
    case 'no_matching_overload':
      return `These types do not go together: ${combination(said)}.`;
    case 'invalid_macro_argument':
      return 'has takes names alone, as in has(state.quest.done).';
    case 'incompatible_ternary_branches':
      return 'Both results of ? and : must have the same type.';
    case 'invalid_logical_operand':
      return '&& and || stand between what is true or false.';
    case 'invalid_condition_type':
      return 'The condition must be true or false.';
    case 'cannot_index_type':
      return 'This has no members.';
    case 'invalid_index_type':
      return 'The index of a list is a whole number.';
    case 'unclear':
      return 'The types of its parts cannot be told.';
    case 'invalid_comprehension_range':
      return 'Only lists have elements.';
    default:
      return `${inWords(said)}.`;
  }
};

const textMessage = ({ code, said, at }: ParseFailure, text: string): string => {
  const isAtEnd = text.slice(at).trim() === '';
  switch (code) {
    case 'unexpected_token':
    case 'unexpected_character':
      return isAtEnd ? 'The expression ends too early.' : `${tokenAt(text, at)} cannot be here.`;
    case 'expected_token': {
      const [, expected = ''] = /^Expected (\w+)/.exec(said) ?? [];
      return `${TOKENS[expected] ?? expected} is missing.`;
    }
    case 'unterminated_string':
    case 'unterminated_triple_quoted_string':
      return 'The text has no closing quote.';
    case 'newline_in_string':
      return 'A line break in a text is written \\n.';
    case 'reserved_identifier':
      return `${tokenAt(text, at)} is a reserved word.`;
    case 'invalid_macro_argument':
      return 'A name and a condition belong here, as in exists(x, x > 1).';
    case 'limit_exceeded':
      return 'The expression has too many levels or nodes.';
    case 'invalid_number':
    case 'invalid_integer':
    case 'invalid_hex_integer':
    case 'invalid_exponent':
      return 'The number cannot be read.';
    default:
      return `${said}.`;
  }
};

/** What the library found, in our words. */
export const failureMessage = (failure: ParseFailure, text: string): string =>
  failure.failed === 'types' ? typeMessage(failure) : textMessage(failure, text);
