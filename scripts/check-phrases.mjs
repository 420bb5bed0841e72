// Lists phrases in pages, comments and messages that a native speaker would seldom write. It warns and never fails: an editor judges each. Usage: npm
// run check:phrases [-- <file or folder>...]; default: the complete repository.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A pattern, and the suggested replacement. */
const phrases = [
  [
    /\b(?:is|are|was|were|be) no (?!longer|more|less|one|such|way|need|reason|problem|guarantee|doubt|point|room|limit)\w+/i,
    '"is not a", "has no"',
  ],
  [
    /(?:^|[.:;(] )(?:What|Who|Whoever) (?:is|are|was|were|has|have|had|it|they|comes?|goes|asks?|stands?|reads?|writes?) [^.?]*[.;)]/,
    'a noun in place of the clause',
  ],
  [/\bwho(?:ever)? asks\b|\basker\b/i, 'caller, client'],
  [/\bof (?:then|ours|theirs|its own|one's own)\b/i, 'at the time, own'],
  [/\bby (?:itself|themselves)\b/i, 'automatically, alone, or nothing'],
  [/\bstand(?:s|ing)? in\b|\bstood in\b/i, 'is in, replaces'],
  [/\bstand(?:s|ing)? (?:for|at|beside|below|above|there)\b/i, 'is'],
  [/\bgo(?:es|ing)? on (?:as|with|to|from)\b/i, 'continues'],
  [/\btakes? (?:no|part)\b/i, 'accepts no, participates'],
  [/\bso (?:many|much|long|often)\b(?! (?:as|that))/i, 'a number, or "this many"'],
  [/\bbut for\b/i, 'except'],
  [/\botherwise than\b|\bother than (?:it|they) (?:was|were)\b/i, 'differently from'],
  [/\btak(?:e|es|en|ing) (?:it |them |that )?back\b/i, 'retract, revoke, undo'],
  [/\bhand(?:s|ed|ing)? on\b/i, 'forward, publish, pass'],
  [/\bcom(?:e|es|ing) (?:along|about|out)\b/i, 'is included, happens, results in'],
  [/\b(?:is|are|was|were) (?:told|to be had|to hand)\b/i, 'gets, is available'],
  [/\bthe same (?:for|of) (?:a|an|the)\b.*\.$/i, 'a full sentence'],
  [/\bas far as\b/i, 'if, to the extent that'],
  [/\bat once\b/i, 'immediately, at a time'],
  [/\bwhole\b/i, 'complete, entire'],
  [/\blikewise\b|\bbesides\b|\bthereby\b|\bthereof\b|\bwherein\b/i, 'also, this'],
  [/\bplaces?\b/i, 'slot, position, room, location'],
  [/\bnobody\b|\bsomebody\b/i, 'no one, someone, or the role'],
  [/\b(?:says|tells|knows|wants|learns) (?:what|how|which|whether|who|so|that)\b/i, 'a verb that fits a module'],
  [/\bis called\b/i, 'is named, runs'],
  [/^(?:Kept|Skipped|Compared|Counted|Shown|Left out) (?:is|are)\b/i, 'the subject first'],
  [/\bthat of\b|\bthose of\b|\bthe one of\b/i, 'repeat the noun'],
  [/\bany ?more\b/i, 'no longer'],
];

const asked = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files', '-z', ...(asked.length > 0 ? asked : ['.'])], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(?:md|ts|mjs|cjs)$/.test(file))
  .filter(
    (file) =>
      !/fixtures\/|conformance\/|^CHANGELOG|^scripts\/check-phrases|docs\/reference\/(?:routes|commands|events)\//.test(
        file,
      ),
  );

/** The prose of a line: a page's text without code, or a comment and the quoted texts of a source. */
const proseOf = (file, line) => {
  if (file.endsWith('.md')) return line.replaceAll(/`[^`]*`/g, '`');
  const comment = /^\s*(?:\/\/|\/?\*+)(.*)$/.exec(line)?.[1] ?? / \/\/ (.*)$/.exec(line)?.[1] ?? '';
  const texts = Array.from(
    line.matchAll(/(['"`])((?:[A-Z]|[a-z]+ )(?:(?!\1).)* (?:(?!\1).)*)\1/g),
    ([, , text]) => text,
  );
  return [comment.replace('*/', ''), ...texts].join(' | ').trim();
};

let warnings = 0;
for (const file of files)
  for (const [index, line] of readFileSync(`${root}${file}`, 'utf8').split('\n').entries()) {
    const prose = proseOf(file, line);
    for (const [pattern, advice] of phrases) {
      const found = pattern.exec(prose);
      if (found === null) continue;
      warnings += 1;
      if (asked.length > 0) console.log(`${file}:${index + 1}: "${found[0].trim()}": ${advice}`);
    }
  }
console.log(`${warnings} phrases to look at in ${files.length} files; name a file or folder to see them.`);
