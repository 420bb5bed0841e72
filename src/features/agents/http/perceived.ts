import { Type } from '@sinclair/typebox';

import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { agentStream, type Call } from '../../../kernel/http/route.js';
import { FreeObject, nullable } from '../../../kernel/http/schemas.js';
import type { Speaker } from '../../npcs/domain/events.js';
import { PlayerSchema } from '../../turns/body-schemas.js';
import { speakerOf } from '../../turns/speaker-of.js';

/** The members of a request about an input to an agent. */
export const perceivedMembers = {
  input: Type.String({ minLength: 1, description: 'What the NPC perceives, such as what a player says to it.' }),
  context: nullable(
    Type.Unsafe<JsonObject>({
      ...FreeObject,
      description: 'The situation. Its member `npcState` is merged into the state of the NPC for this turn.',
    }),
  ),
  player: PlayerSchema,
};

type Body = { readonly input: string; readonly context?: JsonObject | null; readonly player?: Json };

/** What decides in a request: the state in the context overlays the mind's own; the rest is what is around it. Of players it is only recorded. */
const situationOf = ({
  body,
  principal,
}: Call<unknown, unknown, Body>): Pick<Perceived, 'context' | 'npcState' | 'playerContext'> => {
  if (principal.player !== undefined)
    return { context: {}, npcState: {}, ...defined({ playerContext: body.context ?? undefined }) };
  const { npcState, ...context } = body.context ?? {};
  return { context, npcState: isObject(npcState) ? npcState : {} };
};

/** What an agent perceives: the mind that it is, and the inputs of its turn. */
type Perceived = {
  readonly stream: string;
  readonly input: string;
  readonly context: JsonObject;
  readonly npcState: JsonObject;
  readonly player?: Speaker;
  /** The context that a player sent. */
  readonly playerContext?: JsonObject;
};

export const perceivedIn = (call: Call<{ agentId: string }, unknown, Body>): Perceived => {
  const situation = situationOf(call);
  const player = speakerOf(call, situation.context);
  return {
    stream: agentStream(call),
    input: call.body.input,
    ...situation,
    ...defined({ player }),
  };
};
