import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { servedRoutes } from '../../scripts/served-routes.js';
import { documentOf } from '../support/openapi.js';
import { joinedNames, memberNames, type MemberNames } from './member-names.js';
import { bytesOf } from './notation.js';
import { EXCHANGES, isRecorded, play } from './play.js';
import { openExchangeServer } from './server.js';

const MEMBER_NAMES = new URL('../fixtures/member-names.json', import.meta.url);

const keys = await (async () => {
  await using server = await openExchangeServer();
  return server.keys;
})();

/** A request without a length. */
const withLength = (request: string): string => {
  const lines = request.split('\n').map((line) => line.slice(2));
  const bodyAt = lines.indexOf('\\r\\n') + 1;
  return request.replace('{length}', String(bytesOf(lines.slice(bodyAt)).length));
};
/** Fills in what the writer of a request cannot know: the keys of the server, and the length of a body. */
const complete = (text: string): string =>
  text
    .replace(/\{(owner|narrow|limited)\}/g, (_, name: keyof typeof keys) => keys[name])
    .replace(/(?:^> .*\n)+/gm, withLength);

/** `npm run record-exchanges -- <name ...>` records the named exchanges again, because a response was changed on purpose. */
const again = process.argv.slice(2).map((name) => `${name}.http`);
let recorded = 0;
for (const name of (await readdir(EXCHANGES)).filter((file) => file.endsWith('.http')).sort()) {
  const file = join(EXCHANGES, name);
  const text = await readFile(file, 'utf8');
  if (isRecorded(text) && !again.includes(name)) continue;
  await writeFile(file, await play(isRecorded(text) ? text : complete(text)));
  console.log(file);
  recorded += 1;
}
// Members that were added since are promised from now on.
const promised = JSON.parse(await readFile(MEMBER_NAMES, 'utf8')) as MemberNames;
const names = joinedNames(promised, memberNames(documentOf(servedRoutes())));
await writeFile(MEMBER_NAMES, `${JSON.stringify(names, null, 2)}\n`);
console.log(`${String(recorded)} recorded; those that hold answers were left as they are`);
