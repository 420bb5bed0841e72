import { Document, isSeq, type Node, parseDocument, Scalar, visit, type YAMLError, type YAMLSeq } from 'yaml';

import type { Json } from '../../kernel/base/json.js';
import { printable } from '../../kernel/base/printable.js';
import { readJsonBytes } from '../../kernel/base/read-json.js';
import { isSameJson } from '../../kernel/base/same-json.js';
import { refuseInteger, refuseJson } from '../../kernel/base/refuse-json.js';

/** A value of YAML as JSON has it. */
const asJson = (_name: string, value: unknown): unknown => {
  if (typeof value === 'bigint') {
    if (String(Number(value)) !== String(value)) throw refuseInteger(String(value));
    return Number(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuseJson('JSON has no such number.');
  return value;
};

/** Aliases that make a value contain itself, or far too large. */
const unfolded = (value: () => unknown): string => {
  let plain: unknown;
  try {
    plain = value();
  } catch (error) {
    throw refuseJson(error instanceof Error ? `${error.message}.` : 'Its aliases cannot be resolved.');
  }
  try {
    // An empty document has no value.
    return JSON.stringify(plain ?? null, asJson);
  } catch (error) {
    throw error instanceof TypeError ? refuseJson('An alias stands for something that contains it.') : error;
  }
};

/** What to do about the mistakes that people make most, in place of how the parser calls them. */
const ADVICE: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: 'A text that begins with "*" must be in quotes',
  BAD_SCALAR_START: 'A text that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'Put a text that contains ": " in quotes, or correct the indentation',
  DUPLICATE_KEY: 'Two members have the same name',
  TAB_AS_INDENT: 'Indent with spaces instead of tabs',
  TAG_RESOLVE_FAILED: 'A text that begins with "!" must be in quotes',
  UNEXPECTED_TOKEN: 'The value ended before this. If it is part of a text, put the whole text in quotes',
};

/** What is wrong, and where, as a sentence. */
const sentenceOf = ({ code, message, linePos }: YAMLError): string => {
  const [place] = linePos ?? [];
  const [first = ''] = message.split('\n');
  const isTag = code === 'MISSING_CHAR' && first.startsWith('Tags');
  const advice = ADVICE[isTag ? 'TAG_RESOLVE_FAILED' : code];
  if (advice === undefined || place === undefined) return first.replace(/:$/, '.');
  return `${advice} (line ${String(place.line)}, column ${String(place.col)}).`;
};

/**
 * Reads YAML 1.2 that holds what JSON can hold: one document, without tags, with the limits of JSON.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export const readYaml = (text: string): unknown => {
  const document = parseDocument(text, { intAsBigInt: true, prettyErrors: true });
  const [found] = [...document.errors, ...document.warnings];
  if (found?.code === 'MULTIPLE_DOCS') throw refuseJson('A file holds one document.');
  if (found !== undefined) throw refuseJson(sentenceOf(found));
  return readJsonBytes(Buffer.from(unfolded(() => document.toJS() as unknown))).value;
};

/** Lines are not folded, so that a diff shows what changed. */
const LAYOUT = { lineWidth: 0, flowCollectionPadding: false } as const;

/** Whether a terminal would not show a text as it is. Such a text is quoted, because only quotes make its escapes readable. */
const needsEscapes = (text: string): boolean => text.split('\n').some((line) => printable(line) !== line);

/** Quotes the texts of a node that need escapes. */
const quoted = <Part extends Node | Document>(part: Part): Part => {
  visit(part, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && needsEscapes(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return part;
};

/** Writes a value as YAML that `readYaml` reads, also after `printable`. */
export const yamlOf = (value: unknown): string => quoted(new Document(value)).toString(LAYOUT);

/** The text with an item behind a list that has a line for each item; null if its end cannot be found. */
const withLines = (text: string, items: YAMLSeq, item: unknown): string | null => {
  const [start, , end] = items.range ?? [];
  if (start === undefined || end === undefined || items.flow === true || items.items.length === 0) return null;
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  const lines = yamlOf([item]).replace(/^(?=.)/gm, indent);
  const before = text.slice(0, end);
  return `${before}${before.endsWith('\n') ? '' : '\n'}${lines}${text.slice(end)}`;
};

const isReadAs = (text: string, value: unknown): boolean => {
  try {
    return isSameJson(readYaml(text) as Json, value as Json);
  } catch {
    return false;
  }
};

/**
 * Adds an item at the end of a list that a document has as a member. Everything else stays as it is written, unless the list is on one line: then only
 * comments are sure to stay.
 * @param text valid YAML with such a list
 */
export const yamlWithItem = (text: string, list: string, item: unknown): string => {
  const document = parseDocument(text);
  const items: unknown = document.get(list);
  if (!isSeq(items)) throw new Error(`The document has no list named ${list}.`);
  const lines = withLines(text, items, item);
  // In an empty list, which is on one line, the item would be on that line, too.
  if (items.items.length === 0) items.flow = false;
  items.add(quoted(document.createNode(item)));
  const whole = document.toString(LAYOUT);
  return lines !== null && isReadAs(lines, readYaml(whole)) ? lines : whole;
};
