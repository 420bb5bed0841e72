import { openDistributedServer } from '../support/distributed-server.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { soulJourneys } from './soul-journeys.js';

soulJourneys({ name: 'embedded', open: openEmbeddedServer }, { name: 'distributed', open: openDistributedServer });
