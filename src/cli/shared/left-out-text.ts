import type { JsonMembers } from '../../body/protocol.js';
import { counted, short } from './text.js';

/** Names are shown up to this many characters, all together. */
const NAMES_SHOWN = 300;

const membersText = (of: string, count: number, names: readonly string[]): string => {
  const more = count - names.length;
  const all = [...names, ...(more > 0 ? [`${String(more)} more`] : [])].join(', ');
  return `the ${of} member${count === 1 ? '' : 's'} ${short(all, NAMES_SHOWN)}`;
};

const oneText = ({ from, count, inPart, names }: JsonMembers): string => {
  const many = Number(count);
  const origin = typeof from === 'string' ? from : '';
  switch (from) {
    case 'persona':
      return inPart === true ? 'the end of the persona' : 'the persona';
    case 'memory':
      return inPart === true ? `parts of ${counted(many, 'memory', 'memories')}` : counted(many, 'memory', 'memories');
    case 'conversation':
      return counted(many, 'exchange', 'exchanges');
    default: {
      const text = Array.isArray(names) ? membersText(origin, many, names.map(String)) : `the ${origin}`;
      return inPart === true ? `parts of ${text}` : text;
    }
  }
};

/** What a shortened prompt leaves out, in words. @param leftOut the member of that name of a response */
export const leftOutText = (leftOut: readonly JsonMembers[]): string => leftOut.map(oneText).join('; ');
