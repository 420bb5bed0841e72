import type { ApiKeyDeps } from '../features/keys/api-keys.js';
import { requireGoodTurn } from '../features/turns/good-turn.js';
import type { ChangeSigningKeysDeps } from '../features/keys/change-signing-keys.js';
import { TurnIndex } from '../features/turns/turn-index.js';
import { createVerdictSigner } from '../features/turns/verdict-signer.js';
import type { Config } from '../config/config.js';
import type { RouteDefinition } from '../kernel/http/route.js';
import { allRoutes } from './routes.js';
import type { Services } from './services.js';

type Settings = Pick<
  Config,
  'turnDeadlineMs' | 'rulesRegistration' | 'agentWaitMs' | 'conversation' | 'soulDeadlineMs'
>;
export type HttpRoleDeps = Omit<Services, keyof Settings | 'turnIndex' | 'soulTrust' | 'signer'> & {
  readonly config: Settings & { readonly archives: Pick<Config['archives'], 'soulTrust'> };
  readonly apiKeys: ApiKeyDeps;
  readonly signingKeyChanges: ChangeSigningKeysDeps;
};

/** The routes of the http role. They need the ports. */
export const httpRoutes = ({
  config,
  apiKeys,
  signingKeyChanges,
  ...deps
}: HttpRoleDeps): readonly RouteDefinition[] => {
  const turnIndex = new TurnIndex(deps.ports.events, { shared: deps.writers.shared });
  deps.repository.onRecorded((stream, events) => turnIndex.note(stream, events));
  return allRoutes(
    {
      ...deps,
      turnIndex,
      soulTrust: { keys: deps.signingKeys, issuer: deps.publicUrl, trusted: config.archives.soulTrust },
      signer: createVerdictSigner(deps.signingKeys, (turn) =>
        requireGoodTurn({ ...deps, events: deps.ports.events }, turn),
      ),
      turnDeadlineMs: config.turnDeadlineMs,
      rulesRegistration: config.rulesRegistration,
      agentWaitMs: config.agentWaitMs,
      conversation: config.conversation,
      soulDeadlineMs: config.soulDeadlineMs,
    },
    apiKeys,
    signingKeyChanges,
  );
};
