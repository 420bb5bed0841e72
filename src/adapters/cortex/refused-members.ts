import { LRUCache } from 'lru-cache';

import { isObject, type Json, type JsonObject } from '../../kernel/base/json.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import { AttemptFailed, type RefusedMember } from './attempt-failed.js';
import { SYSTEM } from './refused-member.js';
import type { ModelAnswer } from './read-answer.js';

/** How many members, or values of them, are remembered. */
const REMEMBERED = 1_000;
/** How many members one request may lose. */
const MOST_LOST = 6;
/** A newer name of a member. */
const RENAMED: ReadonlyMap<string, string> = new Map([['max_tokens', 'max_completion_tokens']]);
const SCHEMA = 'response_format';
/** Statuses of servers that cannot constrain a model to a schema, and may not say so. */
const MAY_MEAN_NO_SCHEMA: ReadonlySet<number | null> = new Set([400, 413, 422, 501]);

const without = (body: JsonObject, member: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== member));

const renamed = (body: JsonObject, member: string, to: string): JsonObject =>
  Object.fromEntries(Object.entries(body).map(([name, value]): [string, Json] => [name === member ? to : name, value]));

/** The system message becomes the beginning of the user's first one. */
const withoutSystem = (body: JsonObject): JsonObject => {
  const messages = (body['messages'] as readonly Json[]).filter(isObject);
  const system = messages.filter(({ role }) => role === SYSTEM).map(({ content }) => content);
  const [first, ...rest] = messages.filter(({ role }) => role !== SYSTEM);
  const content = [...system, first?.['content']].filter((text) => typeof text === 'string').join('\n\n');
  return { ...body, messages: [{ ...first, role: 'user', content }, ...rest] };
};

/** `key`: what is remembered of it. `how`: for the log. */
type Mend = { readonly key: string; readonly how: string; readonly apply: (body: JsonObject) => JsonObject };

const system: Mend = {
  key: SYSTEM,
  how: 'the system message becomes a part of the first message of the user',
  apply: withoutSystem,
};

const rename = (member: string, to: string): Mend => ({
  key: `${member} renamed`,
  how: `${member} becomes ${to}`,
  apply: (body) => renamed(body, member, to),
});

const leaveOut = (member: string): Mend => ({
  key: member,
  how: `${member} is left out`,
  apply: (body) => without(body, member),
});

/** A server may accept another schema, or a lower temperature, and a request of one tenant must not change those of the others. */
const leaveOutValue = (member: string, value: Json | undefined): Mend => ({
  ...leaveOut(member),
  key: `${member} ${sha256Base64url(JSON.stringify(value ?? null))}`,
  how: `${member} is left out where it has the same value`,
});

const mendOf = ({ name, isUnknown }: RefusedMember, body: JsonObject): Mend => {
  if (name === SYSTEM && !Object.hasOwn(body, SYSTEM)) return system;
  if (!isUnknown || name === SCHEMA) return leaveOutValue(name, body[name]);
  const to = RENAMED.get(name);
  return to === undefined ? leaveOut(name) : rename(name, to);
};

/** The members that one model server refuses. */
export type RefusedMembers = {
  /**
   * Makes a call without the members that the server is known to refuse. If it refuses another one, the call is repeated without that; if this works, it is
   * remembered.
   */
  ask(body: JsonObject, call: (body: JsonObject) => Promise<ModelAnswer>): Promise<ModelAnswer>;
};

/** @param onLearnt gets each way of mending a request once */
export const createRefusedMembers = (onLearnt: (how: string) => void): RefusedMembers => {
  const known = new LRUCache<string, true>({ max: REMEMBERED });
  const told = new Set<string>();

  const knownMends = (body: JsonObject): readonly Mend[] =>
    [
      ...(Array.isArray(body['messages']) && body['messages'].length > 1 ? [system] : []),
      ...[...RENAMED].filter(([member]) => Object.hasOwn(body, member)).map(([member, to]) => rename(member, to)),
      ...Object.entries(body)
        .filter(([member]) => member !== 'messages')
        .flatMap(([member, value]) => [leaveOut(member), leaveOutValue(member, value)]),
    ].filter(({ key }) => known.get(key) === true);

  const mendFor = (body: JsonObject, failure: unknown, tried: ReadonlySet<string>): Mend | null => {
    if (!(failure instanceof AttemptFailed)) return null;
    const { member, status } = failure;
    const named = member === null ? null : mendOf(member, body);
    const guessed =
      MAY_MEAN_NO_SCHEMA.has(status) && Object.hasOwn(body, SCHEMA) ? leaveOutValue(SCHEMA, body[SCHEMA]) : null;
    return [named, guessed].find((mend): mend is Mend => mend !== null && !tried.has(mend.key)) ?? null;
  };

  const learn = (mends: readonly Mend[]): void => {
    for (const { key, how } of mends) {
      known.set(key, true);
      if (told.has(how) || told.size >= REMEMBERED) continue;
      told.add(how);
      onLearnt(how);
    }
  };

  return {
    ask: async (asked, call) => {
      let body = knownMends(asked).reduce((mended, { apply }) => apply(mended), asked);
      const mends: Mend[] = [];
      for (;;) {
        try {
          const answer = await call(body);
          learn(mends);
          return answer;
        } catch (failure) {
          const mend = mends.length < MOST_LOST ? mendFor(body, failure, new Set(mends.map(({ key }) => key))) : null;
          if (mend === null) {
            // An answer that cannot be used: the request was accepted.
            if (failure instanceof AttemptFailed && failure.status === 200) learn(mends);
            throw failure;
          }
          mends.push(mend);
          body = mend.apply(body);
        }
      }
    },
  };
};
