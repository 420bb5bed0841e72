import { openEmbeddedServer } from '../support/embedded-server.js';
import { cardScenarios } from './cards.js';
import { proofScenarios } from './proofs.js';
import { replayScenarios } from './replays.js';
import { retractionScenarios } from './retractions.js';
import { sharedServer } from './shared-server.js';
import { soulImportScenarios } from './soul-imports.js';
import { soulsElsewhereScenarios } from './souls-elsewhere.js';
import { soulScenarios } from './souls.js';

const open = sharedServer(openEmbeddedServer);

soulScenarios('embedded', open);
soulImportScenarios('embedded', open);
cardScenarios('embedded', open);
soulsElsewhereScenarios('embedded', open);
retractionScenarios('embedded', open);
proofScenarios('embedded', open);
// They count all minds of the server.
replayScenarios('embedded', openEmbeddedServer);
