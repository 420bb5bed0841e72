import { plainSearch } from '../../../src/adapters/memory/vector-search.js';
import { vectorSearchContract } from '../../contracts/vector-search.js';

vectorSearchContract('The memory adapter', plainSearch);
