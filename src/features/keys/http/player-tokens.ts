import { Type } from '@sinclair/typebox';

import { MAX_TOKEN_NPCS, MAX_TOKEN_SECONDS } from '../domain/player-token.js';
import type { PlayerTokens } from '../player-tokens.js';
import { defined } from '../../../kernel/base/defined.js';
import { isPlayerText, PLAYER_CHARS } from '../../../kernel/base/player-text.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { requireKnownMembers } from '../../../kernel/http/guard/known-members.js';
import { named } from '../../../kernel/http/named.js';
import { route, type RouteDefinition } from '../../../kernel/http/route.js';
import { ClientId, nullable } from '../../../kernel/http/schemas.js';
import { keyExamples as examples } from './examples.js';

const Player = named(
  'TokenPlayer',
  Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: PLAYER_CHARS }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: PLAYER_CHARS })),
    },
    { description: 'The player who may speak with the token.' },
  ),
);
const Npcs = Type.Array(ClientId, {
  minItems: 1,
  maxItems: MAX_TOKEN_NPCS,
  description: 'The NPCs to whom the player may speak.',
});
const IssueTokenRequest = named(
  'IssuePlayerTokenRequest',
  Type.Object({
    player: Player,
    npcs: Npcs,
    expiresInSeconds: nullable(Type.Integer({ minimum: 1, maximum: MAX_TOKEN_SECONDS, default: MAX_TOKEN_SECONDS })),
  }),
);
export const PlayerTokenAnswer = named(
  'PlayerToken',
  Type.Object({
    token: Type.String({ description: 'The client sends it as `Authorization: Bearer <token>`.' }),
    tokenId: Type.String({ description: 'The claim `jti`.' }),
    expiresAt: Type.String({ description: 'The token is refused from this time on (RFC 3339).' }),
    player: Player,
    npcs: Npcs,
  }),
);

/** @throws Rejection SCHEMA_INVALID for a text that no request could name a player by */
const requirePlayer = (player: { readonly id: string; readonly name?: string }): void => {
  const issues = (['id', 'name'] as const)
    .filter((member) => player[member] !== undefined && !isPlayerText(player[member]))
    .map((member) => ({
      pointer: `/player/${member}`,
      message: `must be at most ${String(PLAYER_CHARS)} UTF-16 units of text without control characters, and not only spaces`,
    }));
  if (issues.length > 0) throw new Rejection('SCHEMA_INVALID', { details: { issues } });
};

/** How long a token may be: proxies commonly take 8 KiB for a header, and this server 16 KiB for all of them. */
const MOST_CHARS = 8 * 1024 - 'Authorization: Bearer '.length;

/** @throws Rejection SCHEMA_INVALID for a token that could not be sent */
const requireShort = (token: string): void => {
  if (token.length <= MOST_CHARS) return;
  const message = `makes a token of ${String(token.length)} characters; a header has room for ${String(MOST_CHARS)}, so name fewer NPCs`;
  throw new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer: '/npcs', message }] } });
};

/** `POST /player-tokens`. */
export const playerTokenRoute = ({ issue }: Pick<PlayerTokens, 'issue'>): RouteDefinition =>
  route('POST', '/player-tokens', {
    tag: 'Keys',
    scope: 'players',
    ext: true,
    operationId: 'issuePlayerToken',
    summary: 'Issue a token for a player',
    description:
      'With it, a game client may talk to the NPCs that it names, as this player, and nothing else. It is not stored, and is accepted only as long as the key that asked for it.',
    // Nothing changes, so a repeat may issue another one.
    retention: 'never',
    body: IssueTokenRequest,
    refuses: ['MEMBER_UNKNOWN'],
    example: examples.issueToken,
    responses: { 201: { description: 'The token.', schema: PlayerTokenAnswer, example: examples.token } },
    handler: async ({ body, principal, commandId }) => {
      requireKnownMembers(body, IssueTokenRequest);
      const { player, expiresInSeconds } = body;
      requirePlayer(player);
      const { id, name } = player;
      const npcs = [...new Set(body.npcs)];
      const wish = {
        player: { id, ...defined({ name }) },
        npcs,
        ...defined({ seconds: expiresInSeconds ?? undefined }),
      };
      const { text, token } = await issue(principal, wish, commandId);
      requireShort(text);
      const expiresAt = new Date(token.expiresAt * 1_000).toISOString();
      return { status: 201, body: { token: text, tokenId: token.tokenId, expiresAt, player: token.player, npcs } };
    },
  });
