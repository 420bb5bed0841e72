import type { Speaker } from '../npcs/domain/events.js';
import type { Json } from '../../kernel/base/json.js';
import { PLAYER_HEADER } from '../../kernel/http/headers.js';
import type { Call } from '../../kernel/http/route.js';
import { playerMember, whoSpeaks } from './domain/speaker.js';

/**
 * The player whom a token let in, or whom a request names in its body, a header, or the context.
 * @throws Rejection PLAYER_MISMATCH
 */
export const speakerOf = (
  { body, header, principal }: Pick<Call<unknown, unknown, object>, 'body' | 'header' | 'principal'>,
  context: Json = null,
): Speaker | undefined =>
  whoSpeaks({
    admitted: principal.player,
    bodies: [playerMember(body as Json)],
    header: header(PLAYER_HEADER),
    context,
  });
