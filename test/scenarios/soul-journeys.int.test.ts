import { openEmbeddedServer } from '../support/embedded-server.js';
import { soulJourneys } from './soul-journeys.js';

soulJourneys({ name: 'one', open: openEmbeddedServer }, { name: 'another', open: openEmbeddedServer });
