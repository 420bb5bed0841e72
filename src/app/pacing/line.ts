import { KeyedMutex } from '../../concurrency/keyed-mutex.js';

export class Lines extends KeyedMutex {
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.runExclusive(key, work);
  }
}
