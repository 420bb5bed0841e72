import type { Speaker } from '../npcs/domain/events.js';
import type { Json } from '../../kernel/base/json.js';
import { PLAYER_HEADER } from '../../kernel/http/headers.js';
import type { Call } from '../../kernel/http/route.js';
import { whoSpeaks } from './domain/speaker.js';

/** The player whom a request names in its body, a header, or the context. */
export const speakerOf = (
  { body, header }: Pick<Call<unknown, unknown, { readonly player?: Json }>, 'body' | 'header'>,
  context: Json = null,
): Speaker | undefined => whoSpeaks({ bodies: [body.player], header: header(PLAYER_HEADER), context });
