import { nativeSearch } from '../../../src/adapters/vectors/usearch.js';
import { vectorSearchContract } from '../../contracts/vector-search.js';

vectorSearchContract('The usearch adapter', nativeSearch);
